// What a shard and a webhook thread send each other, as bytes. Thousands of deliveries and reports
// a second pass between them, and to clone each as an object takes twice as long in both threads.
// Every one is a list of its fields, so that no name is written with each.

import { Packr } from 'msgpackr';
import type { AttemptResult } from '../domain/record.ts';
import type { DueDelivery, EndpointReport, OutboxBatch, OutboxMessage } from './protocol.ts';

/** A message of the outbox as it passes from thread to thread. */
export interface PackedOutbox {
  readonly packedOutbox: Uint8Array<ArrayBuffer>;
}

interface Port {
  postMessage(message: PackedOutbox, transfer: ArrayBuffer[]): void;
}

const packr = new Packr({ useRecords: false, variableMapSize: true });

type Recorded = OutboxBatch['recorded'][number];
type DeliveryFields = [id: string, endpoint: string, number: number, first: boolean, body: string];
type RecordedFields = [endpoint: string, delivery: string, number: number];
type ReportFields = [
  ...RecordedFields,
  first: boolean,
  atMs: number,
  durationMs: number,
  status: AttemptResult['status'],
  failure: AttemptResult['failure'],
  answer: AttemptResult['answer'],
];

export function sendToShard(port: Port, { thread, open, reports }: OutboxMessage): void {
  send(port, [thread, open, reports.map(fieldsOfReport)]);
}

export function receivedByShard({ packedOutbox }: PackedOutbox): OutboxMessage {
  const [thread, open, reports]: [number, boolean, ReportFields[]] = packr.unpack(packedOutbox);
  return { thread, open, reports: reports.map(reportOf) };
}

export function sendFromShard(port: Port, batch: OutboxBatch): void {
  const { endpoints, complete, deliveries, recorded } = batch;
  send(port, [endpoints, complete, deliveries.map(fieldsOfDelivery), recorded.map(fieldsOfRecorded)]);
}

export function receivedFromShard({ packedOutbox }: PackedOutbox): OutboxBatch {
  const [endpoints, complete, deliveries, recorded]: [
    OutboxBatch['endpoints'],
    boolean,
    DeliveryFields[],
    RecordedFields[],
  ] = packr.unpack(packedOutbox);
  return {
    endpoints,
    complete,
    deliveries: deliveries.map(deliveryOf),
    recorded: recorded.map(([endpoint, delivery, number]) => ({ endpoint, delivery, number })),
  };
}

/** Hands over bytes of their own, since the library's buffer is used again. */
function send(port: Port, fields: readonly unknown[]): void {
  const packedOutbox = new Uint8Array(packr.pack(fields));
  port.postMessage({ packedOutbox }, [packedOutbox.buffer]);
}

function fieldsOfReport({ endpoint, delivery, number, first, result }: EndpointReport): ReportFields {
  const { at_ms, duration_ms, status, failure, answer } = result;
  return [endpoint, delivery, number, first, at_ms, duration_ms, status, failure, answer];
}

function reportOf(fields: ReportFields): EndpointReport {
  const [endpoint, delivery, number, first, at_ms, duration_ms, status, failure, answer] = fields;
  return { endpoint, delivery, number, first, result: { at_ms, duration_ms, status, failure, answer } };
}

function fieldsOfDelivery({ id, endpoint, number, first, body }: DueDelivery): DeliveryFields {
  return [id, endpoint, number, first, body];
}

function deliveryOf([id, endpoint, number, first, body]: DeliveryFields): DueDelivery {
  return { id, endpoint, number, first, body };
}

function fieldsOfRecorded({ endpoint, delivery, number }: Recorded): RecordedFields {
  return [endpoint, delivery, number];
}
