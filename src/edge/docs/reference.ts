// The API reference: a page for each group of routes, with its objects, and for each route what it
// does, its parameters, samples and its answer. All of it is made from the API description.

import type { Json } from '../../contract/openapi/schemas.ts';
import { sentEventTypes } from '../../contract/vocabulary.ts';
import { defined, elementAt } from '../../core/assert.ts';
import { type Html, html } from '../../html/html.ts';
import {
  type FieldLinks,
  fieldItem,
  fieldList,
  fieldsWithin,
  nameOf,
  prose,
  schemaOf,
  typeOf,
} from './fields.ts';
import { codeSample, tableOfContents } from './layout.ts';
import { anchorOf, type Rendered, type Section } from './markdown.ts';
import { prepared, type Sample } from './sample-request.ts';
import { sampleLanguages, sampleOf } from './samples.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Json;
  readonly example?: unknown;
}
interface Content {
  readonly schema: Json;
  readonly example?: unknown;
}
interface Response {
  readonly description: string;
  readonly content: Readonly<Record<string, Content & { readonly examples?: Json }>>;
}
interface Operation {
  readonly operationId: string;
  readonly tags: readonly [string];
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, Response | { readonly $ref: string }>>;
}
/** The API description, as far as the reference reads it. */
export interface Description {
  readonly servers: readonly [{ readonly url: string }];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Json>>>> & {
    readonly schemas: Readonly<Record<string, Json>>;
  };
}

interface RouteInReference {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export interface ReferencePage {
  readonly path: string;
  readonly title: string;
  readonly summary: string;
  readonly routes: readonly RouteInReference[];
  /** The names of the objects that the page describes. */
  readonly objects: readonly string[];
}

const slugOf = (title: string) => title.toLowerCase().replaceAll(' ', '-');
const eventsTag = 'Events';

/** Where code is described that names a route, such as `POST /v1/refunds`, or an event type. */
export function linksOfReference(pages: readonly ReferencePage[]): (readonly [code: string, path: string])[] {
  return pages.flatMap(({ path, title, routes }) => [
    ...routes.map(
      (route) => [`${route.method} ${route.path}`, `${path}#${route.operation.operationId}`] as const,
    ),
    ...(title === eventsTag
      ? sentEventTypes.map((type) => [type, `${path}#${anchorOf(type)}`] as const)
      : []),
  ]);
}

/** The pages, in the description's order. An object is on the page that first answers it. */
export function referencePages(description: Description): readonly ReferencePage[] {
  const placed = new Set<string>();
  return description.tags.map(({ name, description: summary }) => {
    const routes = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => operation.tags[0] === name)
        .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    );
    const objects = routes.flatMap(({ operation }) => {
      const answered = answeredObject(operation);
      if (answered === null || placed.has(answered) || !description.components.schemas[answered]) return [];
      placed.add(answered);
      return [answered];
    });
    return { path: `/docs/api/${slugOf(name)}`, title: name, summary, routes, objects };
  });
}

/** The object that a route answers, if it is one with its own identifier. */
function answeredObject({ responses }: Operation): string | null {
  const response = responses[200];
  const schema = response && 'content' in response ? response.content['application/json']?.schema : undefined;
  const name = schema === undefined ? null : nameOf(schema);
  return name === null || /List$|^Deleted/.test(name) ? null : name;
}

/** The anchor of an object. */
const objectAnchor = (name: string) => `${name}-object`;

/** Renders a page of the reference. `link` adds what a proxy removes from addresses. */
export function renderReference(
  page: ReferencePage,
  description: Description,
  pages: readonly ReferencePage[],
  link: (path: string) => string,
): Rendered {
  const { schemas } = description.components;
  const links: FieldLinks = {
    schemas,
    ofObject(name) {
      const home = pages.find(({ objects }) => objects.includes(name));
      return home === undefined ? null : link(`${home.path}#${objectAnchor(name)}`);
    },
  };
  const objects = page.objects.map(
    (name) => html`<h2 id="${objectAnchor(name)}">The object ${name}</h2>
<p>${prose(String(schemaOf(schemas, name).description ?? ''))}</p>${fieldList(schemaOf(schemas, name), links, false)}`,
  );
  const routeSections = page.routes.map((route) => ({
    anchor: route.operation.operationId,
    title: route.operation.summary,
    text: `${route.method} ${route.path} ${route.operation.description.replaceAll('`', '')} ${namesIn(route.operation)}`,
  }));
  const objectSections = page.objects.map((name) => ({
    anchor: objectAnchor(name),
    title: `The object ${name}`,
    text: Object.keys(schemaOf(schemas, name).properties ?? {}).join(' '),
  }));
  const events = page.title === eventsTag ? eventTypes(description) : null;
  const eventsHeading = events === null ? [] : [{ anchor: 'types', title: 'Event types' }];
  const body = html`<p class="lead">${prose(page.summary)}</p>
${tableOfContents([...routeSections, ...eventsHeading, ...objectSections], 'On this page')}
<p class="quiet">The examples run as they stand, once the address of the service and a test key are in the environment:</p>
${codeSample(`export URL=${description.servers[0].url}\nexport KEY=svc_sk_test_...`)}
${page.routes.map((route) => renderRoute(route, description, links, link))}
${events?.body ?? null}
${objects}`;
  const beginning: Section = { anchor: '', title: '', text: page.summary };
  return { body, sections: [beginning, ...routeSections, ...(events?.sections ?? []), ...objectSections] };
}

/** The names of the parameters, for the search. */
function namesIn({ parameters, requestBody }: Operation): string {
  const properties = requestBody?.content['application/json']?.schema.properties ?? {};
  const named = parameters.flatMap((parameter) => ('name' in parameter ? [parameter.name] : []));
  return [...named, ...Object.keys(properties)].join(' ');
}

function resolve<T extends object>(part: T | { readonly $ref: string }, { components }: Description): T {
  if (!('$ref' in part)) return part;
  const [kind, name] = part.$ref.split('/').slice(2) as [string, string];
  return components[kind]![name]! as unknown as T;
}

function renderRoute(
  route: RouteInReference,
  description: Description,
  links: FieldLinks,
  link: (path: string) => string,
): Html {
  const { method, path, operation } = route;
  const parameters = operation.parameters.map((parameter) => resolve(parameter, description));
  const body = operation.requestBody?.content['application/json'];
  const [says, counts] = operation.description.split('\n\n') as [string, string];
  return html`<section aria-labelledby="${operation.operationId}">
<h2 id="${operation.operationId}">${operation.summary}</h2>
<p class="route"><span class="method">${method}</span> ${path}</p>
<p>${prose(says)}</p>
<p class="quiet">${prose(counts)}</p>
${listOf('In the address', 'path', parameters, links)}
${listOf('In the query string', 'query', parameters, links)}
${body !== undefined && html`<h3>In the body</h3>${fieldList(body.schema, links, true)}`}
${listOf('Headers', 'header', parameters, links)}
${samples(route, description)}
${answer(operation, links)}
${refusals(operation, description, link)}
</section>`;
}

function listOf(
  title: string,
  place: Parameter['in'],
  parameters: readonly Parameter[],
  links: FieldLinks,
): Html {
  const here = parameters.filter((parameter) => parameter.in === place);
  const [own, common] = [here.filter((each) => !isCommon(each)), here.filter(isCommon)];
  return html`${own.length > 0 && html`<h3>${title}</h3>${parameterList(own, links)}`}
${common.length > 0 && html`<details><summary>Headers that every route takes</summary>${parameterList(common, links)}</details>`}`;
}

const isCommon = ({ name }: Parameter) => name === 'X-Service-Version' || name === 'Accept-Language';

function parameterList(parameters: readonly Parameter[], links: FieldLinks): Html {
  const items = parameters.map((parameter) =>
    fieldItem(parameter, links, { isRequest: true, isRequired: parameter.required === true }),
  );
  return html`<ul class="fields">${items}</ul>`;
}

/** The example as a sample: with the required parameters, or all of a body that requires none. */
export function sampleFor({ method, path, operation }: RouteInReference, description: Description): Sample {
  const parameters = operation.parameters.map((parameter) => resolve(parameter, description));
  const exampleOf = (name: string) =>
    encodeURIComponent(String(parameters.find((p) => p.name === name)?.example));
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required === true)
    .map(({ name }) => `${encodeURIComponent(name)}=${exampleOf(name)}`);
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => exampleOf(name));
  const key = parameters.find(({ name }) => name === 'Idempotency-Key');
  const answers = resolve(
    defined(operation.responses[200], 'each operation can succeed'),
    description,
  ).content;
  const request = {
    method,
    path: `${filled}${query.length === 0 ? '' : `?${query.join('&')}`}`,
    idempotencyKey: key === undefined ? null : String(key.example),
    body: bodyOf(operation),
  };
  return prepared(operation.operationId, request, !('application/json' in answers));
}

function bodyOf({ requestBody }: Operation): Json | null {
  const content = requestBody?.content['application/json'];
  if (content === undefined) return null;
  const { required = [] } = content.schema as { readonly required?: readonly string[] };
  const example = Object.entries(content.example as Json);
  const needed = example.filter(([name]) => required.includes(name));
  return Object.fromEntries(needed.length === 0 ? example : needed);
}

function samples(route: RouteInReference, description: Description): Html {
  const sample = sampleFor(route, description);
  const group = `sample-${route.operation.operationId}`;
  return html`<h3>Example</h3>${sampleLanguages.map((language, i) => {
    const open = i === 0 && html` open`;
    return html`<details name="${group}"${open}><summary>${language}</summary>${codeSample(sampleOf(language, sample))}</details>`;
  })}`;
}

function answer(operation: Operation, links: FieldLinks): Html {
  const { content } = operation.responses[200] as Response;
  return html`<h3>Answer</h3>${Object.entries(content).map(([type, { schema, example }]) => {
    const shown = typeof example === 'string' ? example : JSON.stringify(example, null, 2);
    const meaning = typeof schema.description === 'string' && html`: ${prose(schema.description)}`;
    const fields = fieldsWithin(schema, links, false);
    return html`<p class="quiet"><code>${type}</code> ${typeOf(schema, links)}${meaning}</p>
${fields !== null && html`<details><summary>Fields</summary>${fields}</details>`}${codeSample(shown)}`;
  })}`;
}

function refusals(operation: Operation, description: Description, link: (path: string) => string): Html {
  const rows = Object.entries(operation.responses)
    .filter(([status]) => Number(status) >= 400)
    .map(([status, response]) => {
      const examples = resolve(response, description).content['application/json']?.examples ?? {};
      const codes = Object.keys(examples).map(
        (code) => html`<li><a href="${link(`/docs/errors#${code}`)}"><code>${code}</code></a></li>`,
      );
      return html`<li>${status}<ul>${codes}</ul></li>`;
    });
  return html`<details><summary>Errors</summary><ul>${rows}</ul></details>`;
}

/** The types of events, with an example of each. */
function eventTypes({ webhooks }: Description): Rendered {
  const types = Object.entries(webhooks).map(([type, { post }]) => ({
    type,
    meaning: elementAt(post.description.split('\n\n'), 0),
    example: post.requestBody?.content['application/json']?.example,
  }));
  const items = types.map(
    ({ type, meaning, example }) =>
      html`<h3 id="${anchorOf(type)}"><code>${type}</code></h3><p>${prose(meaning)}</p>
<details><summary>Example</summary>${codeSample(JSON.stringify(example, null, 2))}</details>`,
  );
  return {
    body: html`<h2 id="types">Event types</h2>${items}`,
    sections: types.map(({ type, meaning }) => ({
      anchor: anchorOf(type),
      title: type,
      text: meaning.replaceAll('`', ''),
    })),
  };
}
