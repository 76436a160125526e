// Customers: who pays. Optional; a customer groups one person's payments.

import type { ParamsOf } from '../contract/routes/table.ts';
import { answered, type Outcome } from './decision.ts';
import type { Draft } from './draft.ts';
import { find, missing } from './find.ts';
import { changedMetadata, changedText, initialMetadata } from './metadata.ts';
import { presentCustomer } from './present.ts';
import type { CustomerRecord } from './record.ts';

export function createCustomer(draft: Draft, params: ParamsOf<'create_customer'>): Outcome {
  const { context } = draft;
  const customer = draft.put<CustomerRecord>({
    kind: 'customer',
    id: context.newId('customer'),
    org: context.org,
    livemode: context.livemode,
    created: Math.floor(context.nowMs / 1000),
    email: params.email ?? null,
    name: params.name ?? null,
    phone: params.phone ?? null,
    description: params.description ?? null,
    metadata: initialMetadata(params.metadata),
    deleted: false,
  });
  return answered(presentCustomer(customer));
}

export function updateCustomer(draft: Draft, params: ParamsOf<'update_customer'>, id: string): Outcome {
  const found = existing(draft, id);
  if ('refusal' in found) return found;
  const before = found.record;
  const changed = changedMetadata(before.metadata, params.metadata);
  if ('refusal' in changed) return changed;
  const customer = draft.put<CustomerRecord>({
    ...before,
    email: changedText(params.email, before.email),
    name: changedText(params.name, before.name),
    phone: changedText(params.phone, before.phone),
    description: changedText(params.description, before.description),
    ...changed,
  });
  return answered(presentCustomer(customer));
}

export function deleteCustomer(draft: Draft, _params: object, id: string): Outcome {
  const found = existing(draft, id);
  if ('refusal' in found) return found;
  const nothing = { email: null, name: null, phone: null, description: null, metadata: {} };
  return answered(presentCustomer(draft.put<CustomerRecord>({ ...found.record, ...nothing, deleted: true })));
}

function existing(draft: Draft, id: string) {
  const found = find(draft.view, draft.context, 'customer', id);
  if ('refusal' in found) return found;
  return found.record.deleted ? { refusal: missing('customer', id, null) } : found;
}
