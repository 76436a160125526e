// The objects of sample events, with which merchants try their receivers: the examples of the API
// description, of now, with ids that belong to no object.

import { kindOfId } from '../contract/id-prefixes.ts';
import { exampleIds, exampleMadeAt, exampleObjectOf, exampleObjects } from '../contract/openapi/examples.ts';
import type { EventType } from '../contract/vocabulary.ts';
import { defined } from '../core/assert.ts';
import type { Context } from './decision.ts';

const exampleId = new RegExp(Object.values(exampleIds).join('|'), 'g');

/** The object that a sample event of this type carries. */
export function sampleObject({ nowMs, newId, settings, language }: Context, type: EventType): object {
  const ids = new Map<string, string>();
  const newIdFor = (id: string): string => {
    const known = ids.get(id) ?? newId(defined(kindOfId(id), `${id} is the id of an object`));
    ids.set(id, known);
    return known;
  };
  const laterSeconds = Math.floor(nowMs / 1000) - exampleMadeAt;
  const object = exampleObjectOf(type, exampleObjects(settings.baseUrl, language));
  return JSON.parse(JSON.stringify(object), (name, value) => {
    if (typeof value === 'string') return value.replace(exampleId, newIdFor);
    return typeof value === 'number' && isTime(name) ? value + laterSeconds : value;
  });
}

function isTime(name: string): boolean {
  return name === 'created' || name.endsWith('_at');
}
