// The parameters of routes as schemas. Limits on lengths count characters. The kind of a parameter
// decides the message for a wrong value (see validate.ts).

import { type TSchema, Type } from 'typebox';
import * as limits from '../limits.ts';
import {
  currencies,
  declineCodes,
  eventTypes,
  givenCancellationReasons,
  languages,
  paymentMethodTypes,
  refundReasons,
} from '../vocabulary.ts';

export const amount = Type.Integer({
  minimum: limits.amountMin,
  maximum: limits.amountMax,
  description: 'Centimes',
});
export const currency = Type.Enum([...currencies]);
export const paymentMethodType = Type.Enum([...paymentMethodTypes]);
export const paymentMethodList = Type.Array(paymentMethodType, {
  minItems: 1,
  maxItems: paymentMethodTypes.length,
  uniqueItems: true,
  default: ['card'],
});
export const shortText = Type.String({ minLength: 1, maxLength: limits.textCharactersMax });
/** A text that an update can remove by sending an empty one. */
export const clearable = <S extends TSchema>(text: S) => Type.Union([Type.Literal(''), text]);
export const longText = Type.String({ minLength: 1, maxLength: limits.descriptionCharactersMax });
export const email = Type.String({ format: 'email', maxLength: limits.textCharactersMax });

/** Without user name and password: browsers show them, and a user name can look like a host. */
export const address = Type.String({
  format: 'uri',
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://(?![^/?#]*@)[^/?#:]',
  maxLength: limits.urlCharactersMax,
});
/** An address in which `{CHECKOUT_SESSION_ID}` becomes the session's id. No other braces. */
export const addressWithSession = Type.String({
  format: 'uri-template',
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://(?![^/?#]*@)(?![/?#:])[!-z|~]+(\\{CHECKOUT_SESSION_ID\\}[!-z|~]*)*$',
  maxLength: limits.urlCharactersMax,
});
/** A webhook address. The address guard decides later whether it is allowed. */
export const webhookAddress = Type.String({ minLength: 1, maxLength: limits.urlCharactersMax });
export const id = Type.String({ minLength: 1, maxLength: limits.textCharactersMax });

export const metadata = Type.Record(
  Type.String({ pattern: `^[\\s\\S]{1,${limits.metadataKeyCharactersMax}}$` }),
  Type.String({ maxLength: limits.metadataValueCharactersMax }),
  { maxProperties: limits.metadataKeysMax, additionalProperties: false, default: {} },
);
/** The parameters of a session's payment intent. */
export const paymentIntentData = Type.Object(
  {
    description: Type.Optional({ ...longText, description: "The payment intent's description." }),
    metadata: Type.Optional({ ...metadata, description: "The payment intent's metadata." }),
  },
  { additionalProperties: false, default: { metadata: {} } },
);
/** Metadata to merge into what is there. An empty text removes its key. */
export const metadataChanges = Type.Record(
  Type.String({ pattern: `^[\\s\\S]{1,${limits.metadataKeyCharactersMax}}$` }),
  Type.String({ maxLength: limits.metadataValueCharactersMax }),
  { maxProperties: limits.metadataKeysMax, additionalProperties: false },
);

export const cancellationReason = Type.Enum([...givenCancellationReasons]);
export const refundReason = Type.Enum([...refundReasons]);
export const declineCode = Type.Enum([...declineCodes]);
export const failureReason = Type.String({
  minLength: 1,
  maxLength: limits.textCharactersMax,
  default: 'declined',
});
export const locale = Type.Enum([...languages]);
export const enabledEvents = Type.Array(Type.Enum(['*', ...eventTypes]), {
  minItems: 1,
  maxItems: eventTypes.length + 1,
  uniqueItems: true,
});
export const timestamp = Type.Integer({ minimum: 0, maximum: 99_999_999_999, description: 'Unix seconds' });

/** The pagination parameters of every list: limit and cursors. */
export const page = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: limits.listLimitMax, default: limits.listLimitDefault }),
  ),
  starting_after: Type.Optional(id),
  ending_before: Type.Optional(id),
};

/** Filters by the time of creation: one second, or a range. */
export const created = {
  created: Type.Optional(timestamp),
  'created[gte]': Type.Optional(timestamp),
  'created[gt]': Type.Optional(timestamp),
  'created[lte]': Type.Optional(timestamp),
  'created[lt]': Type.Optional(timestamp),
};
