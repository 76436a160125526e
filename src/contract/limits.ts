// The limits of the public API, all in one place. The rate limits are the defaults; an
// organization's overrides come from the directory.

import type { Language } from './vocabulary.ts';

export const buckets = ['all', 'writes', 'payment_creation', 'search'] as const;
export type Bucket = (typeof buckets)[number];

/** Requests per minute for each mode and bucket, unless the organization has its own. */
export const defaultLimits = {
  live: { all: 1200, writes: 300, payment_creation: 120, search: 30 },
  test: { all: 600, writes: 150, payment_creation: 60, search: 30 },
} as const satisfies Record<'live' | 'test', Record<Bucket, number>>;

/** The highest limit that an organization can be given. */
export const limitPerMinuteMax = 1_000_000_000;

/** The names of the buckets in messages. */
export const bucketNames: Record<Bucket, Record<Language, string>> = {
  all: { en: 'all requests', fr: 'toutes les requêtes', ar: 'جميع الطلبات' },
  writes: { en: 'writes', fr: 'écritures', ar: 'عمليات الكتابة' },
  payment_creation: { en: 'payment creation', fr: 'création de paiements', ar: 'إنشاء المدفوعات' },
  search: { en: 'search and exports', fr: 'recherches et exports', ar: 'البحث والتصدير' },
};

/** Test mode only, for each organization and calendar day in Morocco. */
export const defaultDailyCap = { requests: 10_000, payment_creations: 1_000 } as const;

/** How many times as much an IPv6 site (/48) may have as one of its networks (/64). */
export const networksPerSite = 4;

export const headerBytesMax = 16 * 1024;
export const bodyBytesMax = 256 * 1024 - 1;
/** The body of a form on a payment page. */
export const formBytesMax = 8 * 1024;
/** The body of a form of the dashboard, which may have a small picture in it. */
export const dashboardFormBytesMax = 128 * 1024;
/** What a payment network posts at once. */
export const networkCallbackBytesMax = 32 * 1024;
/** The reports of money that a charge remembers. One more that would not pay it is refused. */
export const receiptsPerChargeMax = 20;
/** A body may arrive in this many pieces; in more only if they have this many bytes on average. */
export const bodyPiecesFree = 256;
export const bodyPieceBytesMin = 32;
/** Names and list items in a body, at every depth. Each takes time to check, few are needed. */
export const bodyNamesMax = 1_000;
export const idempotencyKeyCharactersMax = 255;
export const idempotencyRetentionMs = 24 * 3600 * 1000;
export const storedResponseBytesMax = 64 * 1024;

export const metadataKeysMax = 50;
export const metadataKeyCharactersMax = 40;
export const metadataValueCharactersMax = 500;
export const descriptionCharactersMax = 1000;
export const textCharactersMax = 255;
export const urlCharactersMax = 2048;

export const amountMin = 1;
export const amountMax = 99_999_999;
/** The smallest amount of a payment by each method, in centimes. */
export const methodAmountMin = { card: 100, cash: 10_000 } as const;

/** Cards that can be tried for one payment: card schemes count more than ten declines as abuse. */
export const cardsPerPaymentMax = 10;
/** Charges of one payment, by any method and with any outcome. */
export const chargesPerPaymentMax = 50;
/** Exports of an organization and mode that may be under way at once. */
export const exportsAtOnceMax = 4;

/** Streams of an organization's events that may be open at once, at each edge. */
export const eventStreamsAtOnceMax = 4;

export const listLimitMax = 100;
export const listLimitDefault = 10;
export const webhookEndpointsMax = 16;
/** Deliveries in flight to one endpoint. */
export const deliveriesInFlightMax = 5;
/** What is kept of the answer to a failed attempt, and of how many attempts of a delivery. */
export const answerKeptBytesMax = 1024;
export const answersPerDeliveryMax = 2;
/** Answers of an organization's receivers that are kept a minute. The log has them for a day. */
export const answersPerMinuteMax = 120;
/** Deliveries that members and operators can send to an endpoint a minute, one by one. */
export const sentByHandPerMinuteMax = 30;
/** All failed deliveries of an endpoint can be sent again once in this time. */
export const resendFailedIntervalMs = 3600 * 1000;

/** Keys of an organization and mode that work at the same time. */
export const activeKeysMax = 100;
/** Keys that members make for an organization in 24 hours. They are kept after their end. */
export const keysMadePerDayMax = 200;
/** Invitations into an organization that were not used yet. */
export const openInvitationsMax = 100;

/** The longest time for which a rolled key or secret can go on working. */
export const overlapSecondsMax = 365 * 24 * 3600;

export const sessionSecondsMin = 30 * 60;
export const sessionSecondsMax = 24 * 3600;

/** Payment links of an organization and mode. */
export const paymentLinksMax = 100;
/** How soon and how late a payment link can end, from when it is made. */
export const paymentLinkLastsMsMin = 30 * 60_000;
export const paymentLinkLastsMsMax = 366 * 24 * 3_600_000;
/**
 * Checkout sessions that are made behind payment links in an hour: behind all of an organization
 * and mode, behind one of them, and for visitors of one link from one address. Each is open for a
 * day at most, so this bounds those that are open. One link leaves most of it to the others.
 */
export const sessionsBehindLinksHourMax = 1_000;
export const sessionsPerLinkHourMax = 200;
export const sessionsPerLinkVisitorHourMax = 20;

/** A command that lists records answers at most this many, the newest ones. */
export const listedMax = 1_000;
