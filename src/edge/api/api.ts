// The API at the edge. A request passes gates 1 to 6 (framing, key, account, version, route,
// permission) and goes to the shard of its organization as bytes. The shard's answer goes to the
// client. Nothing here knows what a route does.

import {
  errorBody,
  errorCodes,
  errors,
  overloaded,
  type Refusal,
  refuse,
  statusOf,
  unavailable,
} from '../../contract/errors/table.ts';
import { negotiateLanguage } from '../../contract/language.ts';
import { bodyBytesMax } from '../../contract/limits.ts';
import { fillDefaults } from '../../contract/routes/parsed-params.ts';
import { parseQuery } from '../../contract/routes/query-string.ts';
import { routeTable } from '../../contract/routes/table.ts';
import { isApiVersion, refuseVersion } from '../../contract/versions.ts';
import { apiVersions, keyChallenges, languages } from '../../contract/vocabulary.ts';
import { elementAt } from '../../core/assert.ts';
import type { Clock } from '../../core/clock.ts';
import type { AnsweredRequest } from '../../request-logs/entry.ts';
import type { AskLogs } from '../../request-logs/query.ts';
import type { NoAnswer, ShardClient } from '../../shard/client.ts';
import { type AnswerFrame, answerFlags, noVersion, requestFlags } from '../../shard/frames.ts';
import { shardOfOrganization } from '../../shard/shard-map.ts';
import { type Exchange, headerLines } from '../http/exchange.ts';
import { readBody } from '../http/request-body.ts';
import type { RequestHead } from '../http/request-head.ts';
import { matchRoute, unknownAddress } from '../http/router.ts';
import { AdmittedCall, noBody, ReceivedCall, reach, SentCall } from './api-call.ts';
import { type KeyRing, type RefusedKey, type RingKey, refuseKey } from './authenticate.ts';
import type { EventStreams, StreamSource } from './event-stream.ts';
import { streamExport } from './export-stream.ts';
import { eventSource, requestSource } from './stream-sources.ts';
import type { UsedKeys } from './used-keys.ts';

/**
 * One answered request, for the logs and the metrics. What the client sent is as it was sent, so it
 * must be checked before it is logged. The address is empty when nobody wants it; the key is also
 * that of a refused one. The bodies are views, which change after the call.
 */
export interface Answered extends AnsweredRequest {
  readonly org: string | null;
  /** The method and path of the route; null when there is none. */
  readonly route: string | null;
  /** It is to be logged, besides being counted. */
  readonly isLogged: boolean;
}

type Outcome = Pick<Answered, 'status' | 'code' | 'answerBody'> &
  Partial<Pick<Answered, 'isLogged' | 'replayed' | 'originalRequest'>>;

interface ApiOptions {
  readonly keyRing: KeyRing;
  /** Whether the directory may be believed; otherwise another node may have changed it. */
  readonly isTrusted: () => boolean;
  readonly shards: readonly ShardClient[];
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly eventStreams: EventStreams;
  /** The signing secrets of `listen` are derived from it. */
  readonly listenKey: Uint8Array;
  readonly askLogs: AskLogs;
  readonly usedKeys: UsedKeys;
  /** Finds a client's address from that of its connection and the proxies' header. */
  readonly addressOf: (remoteAddress: string, forwardedFor: string) => string;
  readonly onAnswered: (answered: Answered) => void;
  /** Whether anybody reads the addresses of requests: to ask a connection for its own is slow. */
  readonly wantsAddress: () => boolean;
  /** Whether a request without an answer of its shard is logged: in a flood that costs most. */
  readonly logsUnanswered: () => boolean;
  /** Called with a key that was sent and refused. */
  readonly onRefusedKey: (
    refused: RefusedKey,
    by: { readonly address: string; readonly path: string },
  ) => void;
}

/** The shard did not answer in time. A retry with the same key finds out what happened. */
const timedOut = refuse('api_error', { message: 'api_error.timeout', retryAfterSeconds: 1 });
/** On every answer, because no cache may store what is about money and changes at any moment. */
export const notStored = headerLines(['Cache-Control', 'no-store']);
const json = headerLines(['Content-Type', 'application/json']);
const authChallenge = headerLines(['WWW-Authenticate', keyChallenges]);
/** A read is refused unless its organization has room for a long list. */
const largeAnswerBytes = 128 * 1024;
/** Another node may have changed the directory. */
const nobodyIsKnown: RefusedKey = { refusal: unavailable, key: null, prefix: null, digest: null };
const routeNames = routeTable.map(({ method, path }) => `${method} ${path}`);

export class Api {
  readonly #options: ApiOptions;
  readonly #unanswered: Readonly<Record<NoAnswer, FixedRefusal>>;

  constructor(options: ApiOptions) {
    this.#options = options;
    const { baseUrl } = options;
    this.#unanswered = {
      away: fixedRefusal(unavailable, baseUrl),
      overloaded: fixedRefusal(overloaded, baseUrl),
    };
  }

  handle(exchange: Exchange, head: RequestHead): void {
    const language = languages.indexOf(negotiateLanguage(head.acceptLanguage));
    const received = new ReceivedCall(this, exchange, head, language);
    exchange.entry = 'api';
    reach(received);
    if (head.refusal !== null) return void this.refuse(received, head.refusal);
    const call = this.#admit(received);
    if ('code' in call) {
      this.refuse(received, call);
    } else if (head.hasBody) {
      reach(call);
      // The body of a request for which there is no room is not even read.
      const { org } = call.key;
      const noAnswer = this.shardOf(org).refusal(call.match.route, org, head.bodyBytes);
      if (noAnswer !== null) this.#refuseUnanswered(call, noAnswer);
      else
        readBody(exchange, bodyBytesMax, (body) => {
          if ('code' in body) this.refuse(call, body);
          else this.#dispatchLater(call, body);
        });
    } else {
      this.dispatch(call, noBody);
    }
  }

  /** Runs gates 2 to 6. */
  #admit(call: ReceivedCall): AdmittedCall | Refusal {
    const { head } = call;
    const key = this.#keyOf(head);
    if ('refusal' in key) return this.#refuseKey(call, key);
    call.key = key;
    call.exchange.holder = key.org;
    if (head.version !== undefined && !isApiVersion(head.version)) return refuseVersion('X-Service-Version');
    const match = matchRoute(head.method, head.path);
    if (match === null) return unknownAddress(head);
    call.match = match;
    if (!key.secret) return this.#refuseKey(call, refuseKey(refuse('secret_key_required'), key));
    const { testOnly } = elementAt(routeTable, match.route);
    if (testOnly && key.livemode) return this.#refuseKey(call, refuseKey(refuse('test_mode_only'), key));
    return new AdmittedCall(call, key, match);
  }

  /** The key of a request, or why it is refused. */
  #keyOf({ authorization }: RequestHead): RingKey | RefusedKey {
    const { isTrusted, keyRing, clock } = this.#options;
    return isTrusted() ? keyRing.authenticate(authorization, clock) : nobodyIsKnown;
  }

  /** Whether the key of a request opens what it did, while an answer goes on. */
  #opens(head: RequestHead): boolean {
    return !('refusal' in this.#keyOf(head));
  }

  /** A key may have been revoked while the body was on its way. */
  #dispatchLater(call: AdmittedCall, body: Buffer): void {
    const key = this.#keyOf(call.head);
    if ('refusal' in key) this.refuse(call, this.#refuseKey(call, key));
    else this.dispatch(call, body);
  }

  #refuseKey(call: ReceivedCall, refused: RefusedKey): Refusal {
    call.refusedKey = refused.key;
    if (refused.key !== null || refused.digest !== null) {
      this.#options.onRefusedKey(refused, { address: this.#addressOf(call), path: call.head.path });
    }
    return refused.refusal;
  }

  /** Sends a request to its shard. */
  dispatch(admitted: AdmittedCall, body: Buffer): void {
    const { head, key, match, exchange, language } = admitted;
    const { idempotencyKey, version } = head;
    // Only reads can have large answers.
    if (head.method === 'GET' && !exchange.hasRoomFor(largeAnswerBytes))
      return void this.refuse(admitted, unavailable);
    const call = new SentCall(admitted, body);
    reach(call);
    const flags =
      (key.livemode ? requestFlags.livemode : 0) |
      (idempotencyKey === undefined ? 0 : requestFlags.hasIdempotencyKey) |
      (isJson(head.contentType) ? 0 : requestFlags.wrongContentType);
    call.sentAs = this.shardOf(key.org).send(
      {
        route: match.route,
        flags,
        language,
        version: versionNumber(version),
        org: key.org,
        requestId: exchange.requestId,
        id: match.id,
        query: head.query,
        idempotencyKey: idempotencyKey ?? '',
        member: '',
        body,
      },
      (answer) => this.#answered(call, answer),
    );
  }

  /** Called amid other requests' answers, which must not suffer from an exception here. */
  #answered(call: SentCall, answer: AnswerFrame | NoAnswer): void {
    // The shard counts an export that it has admitted until it is told that the export is over.
    const isExport = typeof answer === 'object' && (answer.flags & answerFlags.more) !== 0;
    if (!call.exchange.isOpen && !isExport) return;
    try {
      if (typeof answer === 'object') this.#answer(call, answer);
      else this.#refuseUnanswered(call, answer);
    } catch (error) {
      call.exchange.failed(error);
    }
  }

  /** Nobody waits for the request any longer, so it is not run unless the shard has begun. */
  withdraw(call: SentCall): void {
    this.shardOf(call.key.org).withdraw(call.sentAs);
  }

  timeOut(call: SentCall): void {
    this.withdraw(call);
    this.refuse(call, timedOut);
  }

  shardOf(org: string): ShardClient {
    const { shards } = this.#options;
    return elementAt(shards, shardOfOrganization(org, shards.length));
  }

  #answer(call: SentCall, answer: AnswerFrame): void {
    const { exchange } = call;
    const headers = commonHeaders(answer);
    if (answer.flags & answerFlags.more) {
      const { kind } = elementAt(routeTable, call.match.route);
      if (kind === 'stream') return void this.#stream(call, headers);
      if (exchange.isOpen) this.#finished(call, { status: answer.status, code: null, answerBody: noBody });
      const { org, livemode } = call.key;
      const request = { route: call.match.route, org, livemode, query: call.head.query };
      const isAllowed = () => this.#opens(call.head);
      exchange.guard(() => streamExport(exchange, headers, this.shardOf(org), request, isAllowed));
      return;
    }
    if (call.head.method === 'GET' && !exchange.hasRoomFor(answer.body.length)) {
      this.refuse(call, unavailable, headers);
      return;
    }
    const { status, errorNumber, originalRequest, body: answerBody } = answer;
    const replayed = (answer.flags & answerFlags.replayed) !== 0;
    let lines = json + headers;
    if (replayed) lines += `\r\nIdempotent-Replayed: true\r\nOriginal-Request: ${originalRequest}`;
    if (answer.retryAfterSeconds > 0) lines += retryAfter(answer.retryAfterSeconds);
    const code = errorNumber === 0 ? null : elementAt(errorCodes, errorNumber - 1);
    this.#finished(call, { status, code, answerBody, replayed, originalRequest });
    exchange.answer(status, lines, answerBody);
  }

  #stream(call: SentCall, headers: string): void {
    const { exchange, head } = call;
    const { org } = call.key;
    const source = this.#sourceOf(call);
    const isAllowed = () => this.#opens(head);
    const onBegin = () => this.#finished(call, { status: 200, code: null, answerBody: noBody });
    exchange.guard(async () => {
      const { eventStreams } = this.#options;
      const refusal = await eventStreams.stream({ exchange, headers, org, source, head, isAllowed, onBegin });
      if (refusal !== null && exchange.isOpen) this.refuse(call, refusal, headers);
    });
  }

  #sourceOf({ head, key: { org }, match }: SentCall): StreamSource {
    const { listenKey, askLogs } = this.#options;
    const route = elementAt(routeTable, match.route);
    if (route.operation === 'stream_events') return eventSource(this.shardOf(org), org, listenKey);
    // The shard has refused what is not valid.
    const parsed = parseQuery(route, head.query);
    const params = 'refusal' in parsed ? {} : parsed.params;
    fillDefaults(route, params);
    return requestSource(askLogs, org, params);
  }

  /** Refuses a request at the edge. `headers` are those of one that its shard has counted. */
  refuse(call: ReceivedCall, refusal: Refusal, headers = notStored): void {
    const { requestId } = call.exchange;
    const language = elementAt(languages, call.language);
    const body = errorBody(refusal, { language, requestId, baseUrl: this.#options.baseUrl });
    const status = statusOf(refusal);
    this.#finished(call, { status, code: refusal.code, answerBody: body });
    this.#writeRefusal(call, refusal, status, body, headers);
  }

  /** Refuses a request for its shard. It is short, because there may be floods of these. */
  #refuseUnanswered(call: AdmittedCall, why: NoAnswer): void {
    const { refusal, status, bodies } = this.#unanswered[why];
    const [before, after] = elementAt(bodies, call.language);
    const body = before + call.exchange.requestId + after;
    const isLogged = this.#options.logsUnanswered();
    this.#finished(call, { status, code: refusal.code, answerBody: body, isLogged });
    this.#writeRefusal(call, refusal, status, body, notStored);
  }

  #writeRefusal(
    { exchange }: ReceivedCall,
    refusal: Refusal,
    status: number,
    body: string,
    headers: string,
  ): void {
    let lines = json + headers;
    if (refusal.retryAfterSeconds !== undefined) lines += retryAfter(refusal.retryAfterSeconds);
    if (errors[refusal.code].type === 'authentication_error') lines += authChallenge;
    exchange.answer(status, lines, body);
  }

  #addressOf({ exchange, head }: ReceivedCall): string {
    return this.#options.addressOf(exchange.remoteAddress, head.forwardedFor);
  }

  /** Call it before the answer is written: afterwards the connection has no address. */
  #finished(
    call: ReceivedCall,
    { status, code, answerBody, isLogged = true, replayed = false, originalRequest = '' }: Outcome,
  ): void {
    const { head, match } = call;
    const answeredAtMs = this.#options.clock();
    const monotonicMs = performance.now();
    if (call.key !== null) this.#options.usedKeys.note(call.key, monotonicMs, answeredAtMs);
    const key = call.key ?? call.refusedKey;
    this.#options.onAnswered({
      answeredAtMs,
      requestId: call.exchange.requestId,
      address: isLogged && this.#options.wantsAddress() ? this.#addressOf(call) : '',
      org: key?.org ?? null,
      livemode: key?.livemode ?? false,
      key: key?.id ?? null,
      route: match === null ? null : elementAt(routeNames, match.route),
      routeNumber: match === null ? null : match.route,
      method: head.method,
      path: head.path,
      query: head.query,
      objectId: match === null ? '' : match.id,
      idempotencyKey: head.idempotencyKey,
      version: head.version,
      status,
      code,
      durationMs: Math.round(monotonicMs - call.exchange.startedAt),
      replayed,
      originalRequest,
      requestBody: call.body,
      answerBody,
      isLogged,
    });
  }
}

/** A refusal that is always the same but for the id of its request. */
interface FixedRefusal {
  readonly refusal: Refusal;
  readonly status: number;
  /** What stands before the id and behind it, in each language. */
  readonly bodies: readonly (readonly [before: string, after: string])[];
}

function fixedRefusal(refusal: Refusal, baseUrl: string): FixedRefusal {
  const requestId = '\u0000';
  const bodies = languages.map((language) => {
    const [before = '', after = ''] = errorBody(refusal, { language, requestId, baseUrl }).split('\\u0000');
    return [before, after] as const;
  });
  return { refusal, status: statusOf(refusal), bodies };
}

/** The headers of the answer to a request that was counted in the rate limits. */
function commonHeaders({ limit, remaining, resetSeconds }: AnswerFrame): string {
  return `${notStored}\r\nRateLimit-Limit: ${limit}\r\nRateLimit-Remaining: ${remaining}\r\nRateLimit-Reset: ${resetSeconds}`;
}

function retryAfter(seconds: number): string {
  return `\r\nRetry-After: ${seconds}`;
}

/** The place of a version in the list of all. One that does not exist was refused before. */
function versionNumber(version: string | undefined): number {
  return version !== undefined && isApiVersion(version) ? apiVersions.indexOf(version) : noVersion;
}

/** A request without a content type counts as JSON. */
function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined || contentType === 'application/json') return true;
  return /^application\/json *(;|$)/i.test(contentType);
}
