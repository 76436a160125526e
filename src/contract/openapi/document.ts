// The description of the API in OpenAPI 3.1. It is derived from the table of routes, the resources,
// the errors and the limits, so it can't differ from what the service does. It is served at
// /openapi.json and copied to docs/openapi.json.

import { assert, defined, elementAt } from '../../core/assert.ts';
import { errorCodes } from '../errors/table.ts';
import { csvLine, exportColumns } from '../export-format.ts';
import { bucketNames } from '../limits.ts';
import * as resources from '../routes/resources.ts';

import { type ExportOperation, routeTable, type StreamOperation, type TableRoute } from '../routes/table.ts';
import { type EventType, newestApiVersion, sentEventTypes } from '../vocabulary.ts';
import {
  eventMeanings,
  introduction,
  meaningOf,
  pathIds,
  signatureMeaning,
  streamed,
  streamMeaning,
  tags,
} from './descriptions.ts';
import {
  type ExampleObjects,
  exampleEvent,
  exampleIds,
  exampleObjects,
  exampleRequestPlace,
} from './examples.ts';
import { headerRefs, requestHeaderRefs, requestHeaders, responseHeaders } from './headers.ts';
import { exampleAnswers, exampleRequests, exampleSecret } from './operations.ts';
import { describeRefusals, exampleRefusal, type RefusalComponents } from './refusals.ts';
import { describeSchema, ErrorAnswer, type Json, type SchemaComponents, withNulls } from './schemas.ts';

/** The description while it is written: what its parts are made from and what they add. */
interface Writing extends RefusalComponents {
  readonly baseUrl: string;
  readonly objects: ExampleObjects;
  readonly schemas: SchemaComponents;
}

/** The OpenAPI document of the service at `baseUrl` (no slash at the end), as a JSON value. */
export function openapiDocument(baseUrl: string): Json {
  const writing: Writing = {
    baseUrl,
    objects: exampleObjects(baseUrl),
    schemas: new Map(),
    responses: new Map(),
    examples: new Map(),
  };
  describeSchema(ErrorAnswer, writing.schemas);
  const paths = describePaths(writing);
  const webhooks = describeWebhooks(writing);
  const unanswered = errorCodes.filter((code) => !writing.examples.has(code));
  defined(writing.schemas.get('Error'), 'there is a schema of errors').examples = unanswered.map((code) =>
    exampleRefusal(code, baseUrl),
  );
  return {
    openapi: '3.1.1',
    info: { title: 'Payments API', version: newestApiVersion, description: introduction },
    servers: [{ url: baseUrl }],
    security: [{ bearer: [] }, { basic: [] }],
    tags: Object.values(tags),
    paths,
    webhooks,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'The secret key as the token.' },
        basic: {
          type: 'http',
          scheme: 'basic',
          description: 'The secret key as the user name; the password is empty.',
        },
      },
      parameters: requestHeaders,
      headers: responseHeaders,
      schemas: Object.fromEntries(writing.schemas),
      responses: Object.fromEntries(writing.responses),
      examples: Object.fromEntries(writing.examples),
    },
  };
}

function describePaths(writing: Writing): Json {
  const paths: Record<string, Json> = {};
  for (const route of routeTable) {
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: describeOperation(route, writing),
    };
  }
  return paths;
}

function describeOperation(route: TableRoute, writing: Writing): Json {
  const tag = tags[elementAt(route.path.split('/'), 2)];
  assert(tag !== undefined, `no tag for ${route.path}`);
  const query = route.method === 'GET' ? describeQuery(route, writing) : [];
  const body = route.method === 'GET' ? null : describeBody(route, writing);
  return {
    operationId: route.operation,
    tags: [tag.name],
    summary: route.summary,
    description: `${route.description}\n\n${describeCounting(route)}`,
    parameters: [...describePathIds(route), ...query, ...requestHeaderRefs(route)],
    ...(body === null ? {} : { requestBody: body }),
    responses: {
      200: {
        description: 'Done.',
        headers: headerRefs(route, 200),
        content: describeContent[route.kind](route, writing),
      },
      ...describeRefusals(route, writing.baseUrl, writing),
    },
  };
}

function describeCounting(route: TableRoute): string {
  const buckets = [bucketNames.all.en];
  if (route.kind === 'command') buckets.push(bucketNames.writes.en);
  if (route.spends !== null && route.spends !== 'filter') buckets.push(bucketNames[route.spends].en);
  const filtered = route.spends === 'filter' ? `; when filtered, also in ${bucketNames.search.en}` : '';
  const testOnly = route.testOnly ? ' Test keys only.' : '';
  return `Counts in the rate limits: ${buckets.join(', ')}${filtered}.${testOnly}`;
}

function describePathIds(route: TableRoute): Json[] {
  if (!route.path.includes('{id}')) return [];
  const parts = route.path.split('/');
  const what = pathIds[elementAt(parts, parts.indexOf('{id}') - 1)];
  assert(what !== undefined, `no name for the id in ${route.path}`);
  return [
    {
      name: 'id',
      in: 'path',
      required: true,
      description: `Identifier of the ${what}.`,
      schema: { type: 'string' },
      example: exampleIds[what.replace(' ', '_') as keyof typeof exampleIds],
    },
  ];
}

function describeQuery(route: TableRoute, writing: Writing): Json[] {
  const required = route.params.required ?? [];
  const values = exampleRequests[route.operation] as Json;
  return Object.entries(route.params.properties).map(([name, schema]) => ({
    name,
    in: 'query',
    ...(required.includes(name) ? { required: true } : {}),
    description: meaningOf(route.operation, name),
    schema: describeSchema(schema, writing.schemas),
    ...(name in values ? { example: values[name] } : {}),
  }));
}

/** A request's body; null for a route without parameters, whose body may be left out. */
function describeBody(route: TableRoute, writing: Writing): Json | null {
  const schema = withNulls(describeSchema(route.params, writing.schemas));
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0) return null;
  const explained = properties.map(
    ([name, property]) => [name, { ...property, description: meaningOf(route.operation, name) }] as const,
  );
  return {
    required: (route.params.required ?? []).length > 0,
    content: {
      'application/json': {
        schema: { ...schema, properties: Object.fromEntries(explained) },
        example: exampleRequests[route.operation],
      },
    },
  };
}

function describeAnswer(route: TableRoute, writing: Writing): Json {
  const example = exampleAnswers(writing.objects)[route.operation];
  return { 'application/json': { schema: describeSchema(route.result, writing.schemas), example } };
}

function describeExport(route: TableRoute, writing: Writing): Json {
  const rows = exampleAnswers(writing.objects)[route.operation] as unknown as readonly Json[];
  const schema = describeSchema(route.result, writing.schemas);
  const name = String(schema.$ref).split('/').at(-1);
  const columns = exportColumns[route.operation as ExportOperation];
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))];
  return {
    'text/csv': {
      schema: { type: 'string', description: `A line of field names, then a line for each ${name}` },
      example: lines.map((values) => csvLine(values)).join(''),
    },
    'application/x-ndjson': {
      schema: { type: 'string', description: `A line for each ${name}, as JSON` },
      example: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
    },
  };
}

function describeStream(route: TableRoute, writing: Writing): Json {
  const operation = route.operation as StreamOperation;
  return {
    'text/event-stream': {
      schema: { type: 'string', description: `${streamed[operation]} ${streamMeaning}` },
      example: `retry: 1000\n${exampleEvents(operation, writing)}: heart-beat\n\n`,
    },
  };
}

function exampleEvents(operation: StreamOperation, { objects }: Writing): string {
  const answers = exampleAnswers(objects);
  if (operation === 'stream_requests')
    return `data: ${JSON.stringify(answers.stream_requests)}\n\nevent: now\nid: ${exampleRequestPlace}\ndata: {}\n\n`;
  const event = answers.stream_events;
  const start = { organization: event.organization, secret: exampleSecret };
  return (
    `event: start\nid: ${exampleIds.event}\ndata: ${JSON.stringify(start)}\n\n` +
    `id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`
  );
}

const describeContent = {
  command: describeAnswer,
  query: describeAnswer,
  export: describeExport,
  stream: describeStream,
} as const satisfies Record<TableRoute['kind'], (route: TableRoute, writing: Writing) => Json>;

/** The resources that events carry; the type of an event starts with the name of its object. */
const eventResources = [
  resources.PaymentIntent,
  resources.CheckoutSession,
  resources.Charge,
  resources.Refund,
  resources.Review,
];

/** The schema of the object that events of this type carry. */
export function eventResource(type: EventType): (typeof eventResources)[number] {
  const found = eventResources.find((schema) => type.startsWith(`${schema.properties.object.const}.`));
  assert(found !== undefined, `no resource for events of type ${type}`);
  return found;
}

function describeWebhooks(writing: Writing): Json {
  return Object.fromEntries(
    sentEventTypes.map((type) => [type, { post: describeWebhook(type, writing) }] as const),
  );
}

function describeWebhook(type: EventType, writing: Writing): Json {
  const object = describeSchema(eventResource(type), writing.schemas);
  const narrowed = {
    type: 'object',
    properties: {
      type: { type: 'string', const: type },
      data: { type: 'object', properties: { object } },
    },
  };
  return {
    operationId: `receive_${type.replaceAll('.', '_')}`,
    tags: [defined(tags.events, 'events have a tag').name],
    summary: `The event ${type}`,
    description: `${eventMeanings[type]}\n\nSent to the webhook endpoints that are enabled for this type, and again on a schedule of about three days until one attempt gets a 2xx answer within 10 seconds.`,
    security: [],
    parameters: [
      {
        name: 'X-Service-Signature',
        in: 'header',
        required: true,
        description: signatureMeaning,
        schema: { type: 'string', pattern: '^t=[0-9]+(,v1=[0-9a-f]{64})+$' },
      },
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: { allOf: [describeSchema(resources.Event, writing.schemas), narrowed] },
          example: exampleEvent(type, writing.objects),
        },
      },
    },
    responses: {
      '2XX': { description: 'Received. Any other answer, a redirect included, is a failed attempt.' },
      400: { description: 'The signature is not right, or too old.' },
    },
  };
}
