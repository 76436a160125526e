// A small DNS server on loopback for tests. It answers A and AAAA queries over UDP with whatever a test wants, wrong addresses
// and garbage included, and remembers the queries.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface Question {
  readonly name: string;
  readonly type: 'A' | 'AAAA';
  /** How often the same question was asked before. */
  readonly asked: number;
}

interface DnsRecord {
  readonly type: 'A' | 'AAAA' | 'CNAME';
  /** The name of the record; without it, the name that was asked for. */
  readonly name?: string;
  /** An address, or a name. */
  readonly data: string;
}

export type Reply =
  | { readonly records: readonly DnsRecord[] }
  | { readonly responseCode: number }
  | { readonly raw: Buffer }
  | 'silence';

export interface DnsServer {
  /** `ip:port`. */
  readonly address: string;
  readonly questions: readonly Question[];
  close(): Promise<void>;
}

export const nameError = 3;
export const serverFailure = 2;

const typeNumbers = { A: 1, CNAME: 5, AAAA: 28 };
const headerLength = 12;
const internetClass = 1;

/** Records of the fitting type for these addresses. */
export function addressRecords(question: Question, addresses: readonly string[]): Reply {
  const fitting = addresses.filter((address) => address.includes(':') === (question.type === 'AAAA'));
  return { records: fitting.map((data) => ({ type: question.type, data })) };
}

export async function startDnsServer(
  respond: (question: Question) => Reply | Promise<Reply>,
): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const questions: Question[] = [];
  socket.on('message', async (message, from) => {
    const { name, type, end } = readQuestion(message);
    const asked = questions.filter((earlier) => earlier.name === name && earlier.type === type).length;
    const question = { name, type, asked };
    questions.push(question);
    const reply = await respond(question);
    if (reply === 'silence') return;
    const answer = 'raw' in reply ? reply.raw : encodeAnswer(message.subarray(0, end), name, reply);
    socket.send(answer, from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  // A test that fails must end although it has not closed it.
  socket.unref();
  const { port } = socket.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    questions,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function readQuestion(message: Buffer): { name: string; type: 'A' | 'AAAA'; end: number } {
  const labels: string[] = [];
  let at = headerLength;
  for (let length = message[at++]!; length > 0; length = message[at++]!) {
    labels.push(message.toString('latin1', at, at + length));
    at += length;
  }
  const type = message.readUInt16BE(at) === typeNumbers.AAAA ? 'AAAA' : 'A';
  return { name: labels.join('.').toLowerCase(), type, end: at + 4 };
}

/** The question's own bytes, turned into an answer, and the records after them. */
function encodeAnswer(
  asked: Buffer,
  askedName: string,
  reply: { records: readonly DnsRecord[] } | { responseCode: number },
): Buffer {
  const records = 'records' in reply ? reply.records : [];
  const head = Buffer.from(asked);
  head.writeUInt16BE(0x8180 | ('responseCode' in reply ? reply.responseCode : 0), 2);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, ...records.map((record) => encodeRecord(record, askedName))]);
}

function encodeRecord({ type, name, data }: DnsRecord, askedName: string): Buffer {
  const value = type === 'CNAME' ? encodeName(data) : Buffer.from(ipaddr.parse(data).toByteArray());
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(typeNumbers[type], 0);
  fixed.writeUInt16BE(internetClass, 2);
  fixed.writeUInt16BE(value.length, 8);
  return Buffer.concat([encodeName(name ?? askedName), fixed, value]);
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`));
  return Buffer.concat([...labels, Buffer.of(0)]);
}
