// Stands in for `domain/query.ts`: what is answered to queries is compared with the model.

import type { ParamsOf, QueryOperation } from '../../../src/contract/routes/table.ts';
import type { Outcome } from '../../../src/domain/decision.ts';
import { type QueryContext, query as queryInService } from '../../../src/domain/query.ts';
import type { View } from '../../../src/domain/view.ts';
import { oracleOf } from './oracle.ts';

export { presentIntent } from '../../../src/domain/query.ts';

export function query<O extends QueryOperation>(
  view: View,
  operation: O,
  params: ParamsOf<O>,
  context: QueryContext,
  id: string,
): Outcome {
  const outcome = queryInService(view, operation, params, context, id);
  oracleOf(view)?.answered(operation, params, id, context, outcome);
  return outcome;
}
