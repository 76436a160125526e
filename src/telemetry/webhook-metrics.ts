// The metrics of a webhook thread.

import { Gauge, Histogram, type Registry } from 'prom-client';
import type { AttemptResult } from '../domain/record.ts';
import type { Dispatcher } from '../webhooks/dispatcher.ts';

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];

export function createWebhookMetrics(registry: Registry) {
  const registers = [registry];
  const duration = new Histogram({
    name: 'payments_webhook_attempt_duration_seconds',
    help: 'From the look-up of the address to the end of the connection',
    labelNames: ['outcome'],
    buckets: seconds,
    registers,
  });
  const succeeded = duration.labels('succeeded');
  const failed = duration.labels('failed');
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const inFlight = gauge('payments_webhook_attempts_in_flight', 'Webhook attempts in flight');
  const queued = gauge('payments_webhook_deliveries_in_memory', 'Webhook deliveries next in line');
  const failing = gauge(
    'payments_webhook_endpoints_failing',
    'Enabled endpoints whose last attempt since the start failed',
  );
  return {
    attempted({ duration_ms, failure }: AttemptResult): void {
      (failure === null ? succeeded : failed).observe(duration_ms / 1000);
    },
    show(counts: ReturnType<Dispatcher['counts']>): void {
      inFlight.set(counts.inFlight);
      queued.set(counts.queued);
      failing.set(counts.failing);
    },
  };
}
