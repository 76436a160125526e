// The lengths of texts are checked before anything else is done with a text, because everything
// else takes time that grows with it. The check is compiled once from a route's schema. A length
// counts characters (code points), combining accents included, so that a text of few characters is
// never long in bytes.

/** The parts of a JSON schema that limit the lengths of texts. */
export interface LengthSchema {
  readonly type?: string;
  readonly maxLength?: number;
  readonly anyOf?: readonly LengthSchema[];
  readonly items?: LengthSchema;
  readonly properties?: Readonly<Record<string, LengthSchema>>;
  readonly patternProperties?: Readonly<Record<string, LengthSchema>>;
}

/** Whether no text in a value is too long. It checks nothing else. */
type LengthCheck = (value: unknown) => boolean;

/**
 * The check of a schema. Most requests have no text that is longer than the smallest limit of the
 * schema; this is found out first, without matching each text with its own limit.
 */
export function compileLengths(schema: LengthSchema): LengthCheck {
  const lengths: number[] = [];
  const check = compileExact(schema, lengths);
  if (check === null) return () => true;
  const shortestMax = Math.min(...lengths);
  return (value) => !hasLongerText(value, shortestMax) || check(value);
}

function hasLongerText(object: unknown, length: number): boolean {
  for (const name in object as object) {
    const member = (object as Record<string, unknown>)[name];
    if (typeof member === 'string') {
      if (member.length > length) return true;
    } else if (typeof member === 'object' && member !== null && !Array.isArray(member)) {
      if (hasLongerText(member, length)) return true;
    }
  }
  return false;
}

/** Null when the schema limits no lengths. Lists have fixed values, so they need no check. */
function compileExact(schema: LengthSchema, lengths: number[]): LengthCheck | null {
  const max = textLengthMax(schema);
  if (max !== null) {
    lengths.push(max);
    return (value) => typeof value !== 'string' || isWithin(value, max);
  }
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const check = compileExact(member, lengths);
    return check === null ? [] : [[name, check] as const];
  });
  const [values] = Object.values(schema.patternProperties ?? {}).map((each) => compileExact(each, lengths));
  if (members.length === 0 && !values) return null;
  return (value) => {
    if (typeof value !== 'object' || value === null) return true;
    const object = value as Record<string, unknown>;
    const isRight = members.every(([name, check]) => check(object[name]));
    return isRight && (!values || Object.values(object).every(values));
  };
}

/** The most characters of a text, the largest of several alternatives; null for no text. */
export function textLengthMax({ type, maxLength, anyOf }: LengthSchema): number | null {
  if (anyOf !== undefined) {
    const lengths = anyOf.map(textLengthMax).filter((length) => length !== null);
    return lengths.length === 0 ? null : Math.max(...lengths);
  }
  return type === 'string' && maxLength !== undefined ? maxLength : null;
}

/** Whether a text has at most `max` characters. A character is one or two code units. */
export function isWithin(text: string, max: number): boolean {
  if (text.length <= max) return true;
  if (text.length > 2 * max) return false;
  let characters = 0;
  for (const _ of text) characters++;
  return characters <= max;
}
