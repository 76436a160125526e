// What explains every error code: the page to which `doc_url` points shows it in three languages,
// and docs/errors.md has the English texts. All of it is derived from the error table, the messages
// and the advice. The anchor of a code is the code itself.

import { type MessageKey, messages } from '../messages/table.ts';
import { declineCodes, type Language } from '../vocabulary.ts';
import { errorAdvice, typeMeanings } from './advice.ts';
import { exampleMessage } from './message-examples.ts';
import { type ErrorCode, type ErrorType, errorCodes, errors, statusesOf } from './table.ts';

interface ExplainedMessage {
  /** The decline code that comes with this message, if any. */
  readonly declineCode: string | null;
  /** With examples of its values. */
  readonly text: string;
}

export interface ExplainedError {
  readonly code: ErrorCode;
  readonly statuses: readonly number[];
  /** The code's own message. */
  readonly message: string;
  /** The messages of its more precise reasons. */
  readonly variants: readonly ExplainedMessage[];
  readonly advice: string;
}

interface ExplainedType {
  readonly type: ErrorType;
  readonly meaning: string;
  readonly errors: readonly ExplainedError[];
}

/** Every code with its meaning and advice, by type. */
export function explainedTypes(language: Language): ExplainedType[] {
  return (Object.keys(typeMeanings) as ErrorType[]).map((type) => ({
    type,
    meaning: typeMeanings[type][language],
    errors: errorCodes.filter((code) => errors[code].type === type).map((code) => explain(code, language)),
  }));
}

function explain(code: ErrorCode, language: Language): ExplainedError {
  const variants = (Object.keys(messages) as MessageKey[]).filter((key) => key.startsWith(`${code}.`));
  return {
    code,
    statuses: statusesOf(code),
    message: exampleMessage(code, language),
    variants: variants.map((key) => {
      const variant = key.slice(code.length + 1);
      const declineCode = declineCodes.find((known) => known === variant) ?? null;
      return { declineCode, text: exampleMessage(key, language) };
    }),
    advice: errorAdvice[code][language],
  };
}

export const errorsIntroduction: Readonly<Record<Language, readonly string[]>> = {
  en: [
    'A refused request answers a status of 400 or more and an `error` object. Branch on `error.code`: codes are stable, messages may change.',
    '`error.param` names the parameter at fault when there is one. The values in the messages below are examples.',
  ],
  fr: [
    'Une requête refusée reçoit un statut de 400 ou plus et un objet `error`. Fondez-vous sur `error.code` : les codes sont stables, les messages peuvent changer.',
    '`error.param` nomme le paramètre en cause quand il y en a un. Dans les messages ci-dessous, les valeurs sont des exemples.',
  ],
  ar: [
    'يُجاب الطلب المرفوض بحالة 400 أو أكثر وبكائن `error`. اعتمد على `error.code`: الرموز ثابتة، أما الرسائل فقد تتغير.',
    'يسمّي `error.param` المعامل الخاطئ إن وُجد. القيم الواردة في الرسائل أدناه أمثلة.',
  ],
};

/** docs/errors.md. */
export function errorsPageMarkdown(): string {
  const parts = [
    '<!-- Written by `npm run docs` from the error table, the messages and the advice: change those instead. -->',
    '# Error codes',
    ...errorsIntroduction.en,
  ];
  for (const group of explainedTypes('en')) {
    parts.push(`## \`${group.type}\``, group.meaning);
    for (const error of group.errors) parts.push(...errorMarkdown(error));
  }
  return `${parts.join('\n\n')}\n`;
}

function errorMarkdown(error: ExplainedError): string[] {
  const parts = [
    `### <a id="${error.code}"></a>\`${error.code}\``,
    `Status ${error.statuses.join(', ')}. ${error.message}`,
    `**What to do:** ${error.advice}`,
  ];
  const variants = error.variants.map(({ declineCode, text }) =>
    declineCode === null ? `- ${text}` : `- \`${declineCode}\`: ${text}`,
  );
  if (variants.length > 0) parts.push('More precisely:', variants.join('\n'));
  return parts;
}
