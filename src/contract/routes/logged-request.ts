// A request with its answer, as people and programs are shown it.

import { type Static, Type } from 'typebox';

const text = (description: string) => Type.String({ description });
const flag = (description: string) => Type.Boolean({ description });
const count = (description: string) => Type.Integer({ minimum: 0, description });
const perhaps = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export const LoggedRequest = Type.Object(
  {
    request: text('The id of the request.'),
    time: text('When it was answered, as ISO 8601.'),
    duration_ms: count('How long the answer took, in milliseconds.'),
    status: count('The HTTP status of the answer.'),
    code: perhaps('The code of the error, if it is one.'),
    method: text('The HTTP method.'),
    path: text('The path.'),
    query: text('The query, without its question mark.'),
    idempotency_key: perhaps('The `Idempotency-Key`.'),
    replayed: flag('Whether an earlier answer was given again.'),
    original_request: perhaps('The request that was answered first, for one that was replayed.'),
    api_version: perhaps('The version that the request named.'),
    key: perhaps('The id of its key; `null` when a member made it in the dashboard.'),
    member: perhaps('The id of the member who made it.'),
    address: text('The IP address that it came from.'),
    object: perhaps('The object that the path names, or that the answer is.'),
    request_body: text('The body, or its beginning.'),
    request_cut: flag('Whether that is the beginning only.'),
    answer_body: text('The body of the answer, or its beginning.'),
    answer_cut: flag('Whether that is the beginning only.'),
    masked: flag('Whether something was left out that looked like a secret or a card number.'),
  },
  { title: 'LoggedRequest', description: 'A request to the API with its answer, as it was logged.' },
);
export type LoggedRequest = Static<typeof LoggedRequest>;
