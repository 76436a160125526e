// The gateway's API, `/fim/api`: one CC5Request, answered by one CC5Response in the shapes that NestPay gateways were recorded
// to give. It is strict about who asks, about what each request needs, and about what an order allows.

import { isRefused, type Ledger, type Order, type Refused, type Transaction } from './ledger.ts';
import { centimesOf } from './money.ts';
import { type Elements, readXml, writeXml, type XmlElements } from './xml.ts';

export interface Credentials {
  readonly clientId: string;
  readonly apiUser: string;
  readonly apiPassword: string;
}

/** What a request asks for. */
const requestTypes = ['PostAuth', 'Void', 'Credit', 'ORDERSTATUS', 'ORDERHISTORY'] as const;
export type RequestType = (typeof requestTypes)[number];

interface ApiRequest {
  readonly type: RequestType;
  readonly oid: string;
  readonly elements: Elements;
}

const common = ['Name', 'Password', 'ClientId', 'OrderId'];
const byType: Readonly<Record<RequestType, { readonly needs: string[]; readonly takes: string[] }>> = {
  PostAuth: { needs: ['Type'], takes: ['Total', 'Currency'] },
  Void: { needs: ['Type'], takes: ['TransId'] },
  Credit: { needs: ['Type', 'Total', 'Currency'], takes: ['TransId'] },
  ORDERSTATUS: { needs: ['Extra/ORDERSTATUS'], takes: [] },
  ORDERHISTORY: { needs: ['Extra/ORDERHISTORY'], takes: [] },
};

/** Reads a body: XML as it is, or as the form field `DATA`. Returns the answer to what is no proper request. */
export function readApiRequest(body: string, credentials: Credentials): ApiRequest | string {
  const xml = body.startsWith('DATA=') ? (new URLSearchParams(body).get('DATA') ?? '') : body;
  let elements: Elements;
  try {
    elements = readXml(xml, 'CC5Request');
  } catch (error) {
    return problem('CORE-1001', `The request can't be read: ${(error as Error).message}`);
  }
  const { clientId, apiUser, apiPassword } = credentials;
  const given = ['ClientId', 'Name', 'Password'].map((name) => elements.get(name));
  if (given.join('\n') !== [clientId, apiUser, apiPassword].join('\n'))
    return problem('CORE-1002', 'Not authorized & unknown.');
  const type = typeOf(elements);
  if (type === null) return problem('CORE-1003', 'The request is of no known kind.');
  const { needs, takes } = byType[type];
  const missing = [...common, ...needs].find((name) => !elements.get(name));
  if (missing !== undefined) return problem('CORE-1004', `${missing} is missing.`);
  const unknown = [...elements.keys()].find((name) => ![...common, ...needs, ...takes].includes(name));
  if (unknown !== undefined) return problem('CORE-1005', `${unknown} is not for ${type}.`);
  if ((elements.get('Currency') ?? '504') !== '504') return problem('CORE-1006', 'The currency is not 504.');
  return { type, oid: elements.get('OrderId')!, elements };
}

function typeOf(elements: Elements): RequestType | null {
  for (const name of ['ORDERSTATUS', 'ORDERHISTORY'] as const)
    if (elements.get(`Extra/${name}`) === 'QUERY' && !elements.has('Type')) return name;
  const type = elements.get('Type') as RequestType;
  return ['PostAuth', 'Void', 'Credit'].includes(type) ? type : null;
}

/** Carries a request out. */
export function answerApiRequest(ledger: Ledger, { type, oid, elements }: ApiRequest): string {
  const order = ledger.orders.get(oid);
  const isKnown = order !== undefined && order.transactions.length > 0;
  if (type === 'ORDERSTATUS') return isKnown ? statusOf(order) : noStatus(oid);
  if (type === 'ORDERHISTORY') return isKnown ? historyOf(order) : noHistory(oid);
  if (!isKnown) return problem('CORE-2007', 'There is no such order.');
  if (type === 'Void') return outcome(order, ledger.void(order));
  const total = elements.get('Total');
  const amount = total === undefined ? null : centimesOf(total);
  if (amount === null ? total !== undefined : amount === 0)
    return problem('CORE-2004', `Total is no amount: ${total}`);
  if (type === 'PostAuth') return outcome(order, ledger.capture(order, amount));
  return outcome(order, ledger.credit(order, amount!, elements.get('TransId') ?? null));
}

function response(elements: XmlElements): string {
  return `<?xml version="1.0" encoding="ISO-8859-9"?>${writeXml({ CC5Response: elements })}`;
}

export function problem(code: string, message: string, oid = ''): string {
  return response({
    OrderId: oid,
    GroupId: oid,
    Response: 'Error',
    AuthCode: '',
    HostRefNum: '',
    ProcReturnCode: '99',
    TransId: '',
    ErrMsg: message,
    Extra: { SETTLEID: '', TRXDATE: timeOf(new Date()), ERRORCODE: code, NUMCODE: '99' },
  });
}

function outcome({ oid }: Order, made: Refused | Transaction): string {
  if (isRefused(made)) return problem(made.code, made.message, oid);
  return response({
    OrderId: oid,
    GroupId: oid,
    Response: 'Approved',
    AuthCode: made.authCode,
    HostRefNum: made.hostReference,
    ProcReturnCode: made.procReturnCode,
    TransId: made.transId,
    ErrMsg: '',
    Extra: { SETTLEID: '1', TRXDATE: timeOf(made.at), ERRORCODE: '', CARDBRAND: 'VISA', NUMCODE: '00' },
  });
}

/** The status tells of the order's latest transaction. */
function statusOf({ oid, transactions }: Order): string {
  const { type, status, amount, captured, transId, ...latest } = transactions.at(-1)!;
  const elements = {
    ORD_ID: oid,
    CHARGE_TYPE_CD: type,
    ORIG_TRANS_AMT: String(amount),
    CAPTURE_AMT: captured === 0 ? '' : String(captured),
    TRANS_STAT: status,
    AUTH_DTTM: timeOf(latest.at),
    CAPTURE_DTTM: timeOf(latest.capturedAt),
    AUTH_CODE: latest.authCode,
    TRANS_ID: transId,
  };
  return response({
    ErrMsg: `Record(s) found for ${oid}`,
    ProcReturnCode: '00',
    Response: 'Approved',
    OrderId: oid,
    TransId: transId,
    Extra: {
      ...elements,
      HOST_REF_NUM: latest.hostReference,
      NUMCODE: '0',
      ORDERSTATUS: tabbed(elements),
      PAN: maskedCard,
      PROC_RET_CD: latest.procReturnCode,
      SETTLEID: '',
      ...(latest.voidedAt !== null && { VOID_DTTM: timeOf(latest.voidedAt) }),
    },
  });
}

/** The card that every customer of the stand-in has. */
export const maskedCard = '4355 08** **** 4358';

const tabbed = (elements: Readonly<Record<string, string>>) =>
  Object.entries(elements)
    .map(([name, value]) => `${name}:${value}`)
    .join('\t');

function noStatus(oid: string): string {
  return response({
    ErrMsg: `No record found for ${oid}`,
    ProcReturnCode: '99',
    Response: 'Declined',
    OrderId: '',
    TransId: '',
    Extra: { NUMCODE: '0', ORDERSTATUS: tabbed({ ORD_ID: '', CHARGE_TYPE_CD: '', ORIG_TRANS_AMT: '' }) },
  });
}

/** Every transaction, the latest first. */
function historyOf({ oid, transactions }: Order): string {
  const lines = transactions.toReversed().map((each) => {
    const captured = each.captured === 0 ? '' : String(each.captured);
    const times = [each.at, each.capturedAt, each.voidedAt].map(timeOf);
    const references = [each.hostReference, each.authCode, each.procReturnCode, each.transId];
    return [each.type, each.status, String(each.amount), captured, ...times, ...references].join('\t');
  });
  return response({
    ErrMsg: '',
    ProcReturnCode: '00',
    Response: 'Approved',
    OrderId: oid,
    Extra: {
      NUMCODE: '0',
      ...Object.fromEntries(lines.map((line, at) => [`TRX${at + 1}`, line])),
      TRXCOUNT: String(lines.length),
    },
  });
}

function noHistory(oid: string): string {
  return response({
    ErrMsg: `No record found for ${oid}`,
    ProcReturnCode: '05',
    Response: 'Declined',
    OrderId: oid,
    Extra: { NUMCODE: '0', TRXCOUNT: '0' },
  });
}

/** As the gateway writes a time; '' for none. */
function timeOf(time: Date | null): string {
  return time === null ? '' : time.toISOString().replace('T', ' ').replace('Z', '');
}
