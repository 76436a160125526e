// The Postman collection: openapi-to-postmanv2 converts the API description, and the requests get what the samples of the
// documentation have: the parameters that are needed, and ids that earlier answers have left in variables.

import { createRequire } from 'node:module';
import { openapiDocument } from '../src/contract/openapi/document.ts';
import { type Description, referencePages, sampleFor } from '../src/edge/docs/reference.ts';

interface Named {
  key: string;
  value: string;
  disabled?: boolean;
}
interface PostmanRequest {
  method: string;
  name?: string;
  url: { path: string[]; host: string[]; query: Named[]; variable: Named[] };
  header: Named[];
  body?: { mode: 'raw'; raw: string };
  auth: null;
}
interface PostmanItem {
  id?: string;
  name: string;
  request: PostmanRequest;
  response: unknown[];
}
export interface Collection {
  info: { name: string; _postman_id?: string; description?: unknown; schema: string };
  item: { id?: string; name: string; item: PostmanItem[] }[];
  auth: unknown;
  event: unknown[];
  variable: Named[];
}
type Conversion = { result: true; output: [{ data: Collection }] } | { result: false; reason: string };
interface Converter {
  convertV2(
    input: { type: 'json'; data: unknown },
    options: object,
    done: (error: Error | null, conversion: Conversion) => void,
  ): void;
}

/** Runs in Postman after each answer: later requests find the ids of what was made last. */
const keepIds = [
  'let answer;',
  'try {',
  '  answer = pm.response.json();',
  '} catch {',
  '  return;',
  '}',
  'const made = answer.object === "list" ? answer.data[0] : answer;',
  'if (made && made.id && made.object) pm.collectionVariables.set(made.object.replace(".", "_"), made.id);',
  'if (made && made.latest_charge) pm.collectionVariables.set("charge", made.latest_charge);',
  'const cash = made && made.next_action && made.next_action.cash_display_details;',
  'if (cash) pm.collectionVariables.set("number", cash.number);',
];

/** The collection with an address that is its variable `baseUrl`. */
export async function postmanCollection(baseUrl: string): Promise<Collection> {
  const description = openapiDocument(baseUrl);
  const collection = await converted(description);
  const samples = new Map(
    referencePages(description as unknown as Description)
      .flatMap(({ routes }) => routes)
      .map((route) => [route.operation.summary, sampleFor(route, description as unknown as Description)]),
  );
  const names = new Set<string>();
  const variable = (text: string) =>
    text.replace(/\{([a-z_]+)\}/g, (_, name: string) => {
      names.add(name);
      return `{{${name}}}`;
    });
  for (const folder of collection.item) {
    delete folder.id;
    for (const item of folder.item) {
      const sample = samples.get(item.name);
      if (sample === undefined) throw new Error(`there is no sample of ${item.name}`);
      const { path, body, idempotencyKey } = sample.request;
      const [address = '', query = ''] = variable(path).split('?');
      const { request } = item;
      delete item.id;
      delete request.name;
      item.response = [];
      request.url = {
        host: ['{{baseUrl}}'],
        path: address.slice(1).split('/'),
        query: [...new URLSearchParams(query)].map(([key, value]) => ({ key, value })),
        variable: [],
      };
      request.header = [];
      if (idempotencyKey !== null) request.header.push({ key: 'Idempotency-Key', value: '{{$guid}}' });
      if (body === null) delete request.body;
      else {
        request.header.push({ key: 'Content-Type', value: 'application/json' });
        request.body = { mode: 'raw', raw: variable(JSON.stringify(body, null, 2)) };
      }
    }
  }
  delete collection.info._postman_id;
  return {
    info: collection.info,
    auth: { type: 'bearer', bearer: [{ type: 'string', key: 'token', value: '{{key}}' }] },
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: keepIds } }],
    variable: [
      { key: 'baseUrl', value: baseUrl },
      { key: 'key', value: 'svc_sk_test_...' },
      ...[...names].toSorted().map((key) => ({ key, value: '' })),
    ],
    item: collection.item,
  };
}

function converted(description: object): Promise<Collection> {
  const converter = createRequire(import.meta.url)('openapi-to-postmanv2') as Converter;
  const options = { folderStrategy: 'Tags', includeWebhooks: false, alwaysInheritAuthentication: true };
  return new Promise((resolve, reject) => {
    converter.convertV2({ type: 'json', data: description }, options, (error, conversion) => {
      if (error) reject(error);
      else if (conversion.result) resolve(conversion.output[0].data);
      else reject(new Error(conversion.reason));
    });
  });
}
