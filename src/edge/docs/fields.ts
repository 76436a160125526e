// The fields of the API description's schemas as a list: name, type, meaning, and what a value may
// be. A schema that has a page of its own is linked, any other one is shown where it is used.

import { type Json, requiredNames } from '../../contract/openapi/schemas.ts';
import { defined } from '../../core/assert.ts';
import { Html, html } from '../../html/html.ts';

export interface FieldLinks {
  /** The schemas of the description, by name. */
  readonly schemas: Readonly<Record<string, Json>>;
  /** The address of the object with this name; null if it is shown where it is used. */
  readonly ofObject: (name: string) => string | null;
}

/** A list of the properties of an object. `isRequest` marks those that a request must have. */
export function fieldList(schema: Json, links: FieldLinks, isRequest: boolean): Html {
  const required = requiredNames(schema);
  const items = Object.entries(schema.properties ?? {}).map(([name, field]) =>
    fieldItem({ name, schema: field, description: text(field.description) }, links, {
      isRequest,
      isRequired: required.includes(name),
    }),
  );
  return html`<ul class="fields">${items}</ul>`;
}

interface Field {
  readonly name: string;
  readonly schema: Json;
  readonly description: string;
}

export function fieldItem(
  { name, schema, description }: Field,
  links: FieldLinks,
  { isRequest, isRequired }: { readonly isRequest: boolean; readonly isRequired: boolean },
): Html {
  const must = isRequest && isRequired && html` <span class="must">required</span>`;
  const rules = rulesOf(schema, isRequest);
  return html`<li><p><code>${name}</code> <span class="quiet">${typeOf(schema, links)}</span>${must}</p>
${description !== '' && html`<p>${prose(description)}</p>`}
${rules !== null && html`<p class="quiet">${rules}</p>`}
${fieldsWithin(schema, links, isRequest)}</li>`;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Text with code between backquotes. */
export function prose(said: string): Html {
  return html`${said.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}

/** The name of the schema that a reference leads to; null where there is none. */
export function nameOf({ $ref }: Json): string | null {
  return typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : null;
}

/** A schema of the description by its name. */
export function schemaOf(schemas: Readonly<Record<string, Json>>, name: string): Json {
  return defined(schemas[name], `the description has no schema ${name}`);
}

const isList = (schema: Json): schema is Json & { readonly items: Json } => schema.items !== undefined;
const isNull = (schema: Json) => schema.type === 'null';

/** The alternatives of a schema that has some; else the schema alone. */
function alternatives(schema: Json): readonly Json[] {
  return schema.oneOf ?? schema.anyOf ?? [schema];
}

/** What kind of value a schema is for, with links to the objects that have a page. */
export function typeOf(schema: Json, links: FieldLinks): Html {
  const name = nameOf(schema);
  if (name !== null) {
    const to = links.ofObject(name);
    return to === null ? typeOf(schemaOf(links.schemas, name), links) : html`<a href="${to}">${name}</a>`;
  }
  const kinds = alternatives(schema);
  if (kinds.length > 1 || kinds[0] !== schema) {
    const shown = kinds.map((kind) => typeOf(kind, links).markup);
    return new Html([...new Set(shown)].join(' or '));
  }
  if (isList(schema)) {
    const orNull = [schema.type].flat().includes('null') && ' or null';
    const { items: item } = schema;
    return html`list of ${typeOf(item, links)}${typeof item.type === 'string' && 's'}${orNull}`;
  }
  if (schema.additionalProperties instanceof Object) return html`object of texts`;
  const types = [schema.type].flat().filter((type) => type !== undefined);
  return html`${types.join(' or ')}`;
}

/** What a value may be, in words; null when there is nothing to say. */
function rulesOf(schema: Json, isRequest: boolean): Html | null {
  const own = isList(schema) ? schema.items : schema;
  const rules: Html[] = [];
  const constant = own.const === undefined ? [] : [own.const];
  const choices = (own.enum ?? constant).filter((choice) => choice !== null);
  if (choices.length > 0) rules.push(html`${choices.length === 1 ? 'Only' : 'One of'} ${codes(choices)}.`);
  if (isRequest) {
    const { minimum, maximum, minLength, maxLength, maxProperties } = own;
    if (minimum !== undefined) rules.push(html`From ${String(minimum)} to ${String(maximum)}.`);
    else if (maxLength !== undefined)
      rules.push(html`${minLength === undefined ? 'At most' : '1 to'} ${String(maxLength)} characters.`);
    if (maxProperties !== undefined) rules.push(html`At most ${String(maxProperties)} keys.`);
    if (schema.default !== undefined)
      rules.push(html`Default: <code>${JSON.stringify(schema.default)}</code>.`);
  }
  return rules.length === 0 ? null : html`${rules.flatMap((rule) => [rule, html` `])}`;
}

const codes = (values: readonly unknown[]): Html =>
  new Html(values.map((value) => html`<code>${String(value)}</code>`.markup).join(', '));

/** The fields within a value; null when it has none, or when their object has a page. */
export function fieldsWithin(schema: Json, links: FieldLinks, isRequest: boolean): Html | null {
  const name = nameOf(schema);
  if (name !== null) {
    return links.ofObject(name) === null
      ? fieldsWithin(schemaOf(links.schemas, name), links, isRequest)
      : null;
  }
  if (isList(schema)) return fieldsWithin(schema.items, links, isRequest);
  if (schema.properties !== undefined) return fieldList(schema, links, isRequest);
  const kinds = alternatives(schema).filter((kind) => kind !== schema && !isNull(kind));
  const lists = kinds.map((kind) => fieldsWithin(kind, links, isRequest)).filter((list) => list !== null);
  return lists.length === 0
    ? null
    : html`${lists.map((list, i) => (i === 0 ? list : html`<p class="quiet">or</p>${list}`))}`;
}
