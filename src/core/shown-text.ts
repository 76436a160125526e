// Texts that people are shown. Some characters are not seen and change how what stands around them
// is read: controls, marks that turn the writing direction, spaces without width. A name has none
// of them. Other texts may, because they are their author's, but only within themselves.

/** Joiners are not among them: Persian and emoji are written with these. */
const hiddenInName =
  /[\p{Cc}\p{Cs}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]/u;
const everyHiddenInName = new RegExp(hiddenInName, 'gu');
/** The same without tabs and line breaks. */
const hiddenInText = new RegExp(`(?![\\t\\n\\r])${hiddenInName.source}`, 'u');

/** Whether a name has a character that is not seen. */
export function hasHidden(name: string): boolean {
  return hiddenInName.test(name);
}

/** Whether a text of several lines has a character that is not seen. */
export function hasHiddenInLines(text: string): boolean {
  return hiddenInText.test(text);
}

/** A name that was stored before names were checked, without what is not seen. */
export function withoutHidden(name: string): string {
  return hasHidden(name) ? name.replace(everyHiddenInName, ' ').replace(/ {2,}/g, ' ').trim() : name;
}

const visible = /[^\s\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/u;

/** The first of the texts in which something is seen; the last one unless another has that. */
export function firstSeen(...texts: readonly [...others: (string | null)[], last: string]): string {
  return texts.find((text) => text !== null && visible.test(text)) ?? texts.at(-1)!;
}

const turning = /[\u202a-\u202e\u2066-\u2069]/;
const everyTurning = /[\u202a-\u202e\u2066-\u2069]/g;
const popIsolate = '\u2069';

/** A text whose writing direction ends with it: no embeddings or overrides, isolates are paired. */
export function contained(text: string): string {
  if (!turning.test(text)) return text;
  let open = 0;
  const kept = text.replace(everyTurning, (character) => {
    if (character < '\u2066') return '';
    if (character !== popIsolate) open++;
    else if (open === 0) return '';
    else open--;
    return character;
  });
  return kept + popIsolate.repeat(open);
}

/** A text without control sequences for the terminal. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ');
}
