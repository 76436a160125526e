// Thrown when the directory refuses a change because of its input or of the organization's state.
// Nothing was changed. The message is one sentence for the operator. A refusal that a member of an
// organization can run into also has a code, so that the dashboard can say it in the member's
// language.

export type RefusalCode =
  | 'colour_invalid'
  | 'email_invalid'
  | 'email_taken'
  | 'end_passed'
  | 'last_owner'
  | 'limit_not_higher'
  | 'link_missing'
  | 'logo_invalid'
  | 'logo_too_large'
  | 'member_exists'
  | 'member_missing'
  | 'name_invalid'
  | 'person_name_invalid'
  | 'reason_missing'
  | 'request_open'
  | 'session_over'
  | 'text_invalid'
  | 'too_many_changes'
  | 'too_many_keys'
  | 'too_many_new_keys'
  | 'too_many_links'
  | 'too_many_sign_ups'
  | 'wrong_code';

export class DirectoryRefusal extends Error {
  override name = 'DirectoryRefusal';
  readonly code: RefusalCode | null;
  constructor(message: string, code: RefusalCode | null = null) {
    super(message);
    this.code = code;
  }
}
