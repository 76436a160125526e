// Triggers events over HTTP with a test key: by the merchants' routes and the test helpers.

import { randomUUID } from 'node:crypto';
import { routeTable } from '../../contract/routes/table.ts';
import { OperatorFailure } from '../socket/protocol.ts';
import { trigger, typeThatHappens } from '../use-cases/trigger.ts';
import { type Api, callApi } from './api-client.ts';

interface List<T> {
  readonly data: readonly T[];
}

interface Event {
  readonly id: string;
  readonly type: string;
}

/** Makes an event of this type happen, and returns it. Rejects with an `OperatorFailure`. */
export function triggerThroughApi(api: Api, type: string): Promise<unknown> {
  const events = async (query: string) =>
    (await callApi<List<Event>>(api, 'GET', `/v1/events?${query}`)).data;
  return trigger(
    {
      call: (operation, id, params) => {
        const { method, path } = routeTable.find((route) => route.operation === operation)!;
        const more = { body: params, idempotencyKey: randomUUID() };
        return callApi(api, method, path.replace('{id}', id), more);
      },
      command: async () => {
        throw new OperatorFailure(
          'refused',
          `only an operator can make ${type} happen: trigger it on the machine of the service, without --api-key`,
        );
      },
      reviewOf: async (intent) => {
        const path = '/v1/reviews?limit=100';
        const { data } = await callApi<List<{ id: string; payment_intent: string }>>(api, 'GET', path);
        const review = data.find(({ payment_intent }) => payment_intent === intent);
        if (review === undefined) throw new OperatorFailure('failed', 'no review was opened');
        return review.id;
      },
      newestEvent: async () => (await events('limit=1'))[0]?.id ?? '',
      eventsAfter: async (id) => {
        const found = await events(id === '' ? 'limit=100' : `limit=100&ending_before=${id}`);
        return { events: found, cursor: found[0]?.id ?? id };
      },
    },
    typeThatHappens(type),
  );
}
