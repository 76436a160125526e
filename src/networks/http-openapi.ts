// The OpenAPI document of the contract with integrators, in both directions: the operations that
// the service posts are its webhooks, and the report that an integrator posts is its path. `npm run
// docs` writes it into docs/networks.

import { signatureHeaderName } from '../crypto/signed-message.ts';
import { Operation, OperationAnswer, Report, ReportAnswer, ReportRefused } from './http-contract.ts';

const json = (schema: object) => ({ 'application/json': { schema } });
const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
});
const pathParameter = (name: string, schema: object) => ({ name, in: 'path', required: true, schema });

const signature = header(
  signatureHeaderName,
  '`t=<unix seconds>,v1=<hex>`: the HMAC-SHA256 of `<t>.<body>` under the shared secret. Refuse one that is older than five minutes.',
);

export function httpContractDocument(): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'The contract with payment integrators',
      version: '1',
      description: 'See http.md for the rules that a schema does not say.',
    },
    webhooks: {
      operation: {
        post: {
          summary: "The service asks the integrator, at the integrator's address.",
          parameters: [signature, header('Idempotency-Key', 'The id of the operation.')],
          requestBody: { required: true, content: json(Operation) },
          responses: {
            '200': { description: 'What became of the operation.', content: json(OperationAnswer) },
            '4XX': { description: 'The message is not genuine, or is not understood. Nothing was done.' },
          },
        },
      },
    },
    paths: {
      '/networks/http/{organization}/{mode}': {
        post: {
          summary: 'The integrator reports a payment, or that a card was declined.',
          parameters: [
            pathParameter('organization', { type: 'string' }),
            pathParameter('mode', { type: 'string', enum: ['test', 'live'] }),
            signature,
          ],
          requestBody: { required: true, content: json(Report) },
          responses: {
            '200': { description: 'Stored, for good.', content: json(ReportAnswer) },
            '4XX': {
              description: 'Not accepted: sending it again can not help.',
              content: json(ReportRefused),
            },
            '429': {
              description:
                'Too much that was not genuine, or told nothing new, came from this address. Nothing is stored: send it again after `Retry-After`.',
            },
            '5XX': { description: 'Nothing is stored: send it again, with growing waits.' },
          },
        },
      },
    },
  };
}
