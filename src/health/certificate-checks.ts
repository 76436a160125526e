// The check of `payments doctor` on the certificates that the service shows: whether a start could
// use their files, and for how long still.

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { checkCertificates } from '../config/config.ts';
import type { Config } from '../config/config-schema.ts';
import { ConfigError } from '../config/settings.ts';
import type { Check } from '../operator/use-cases/services.ts';
import { checked } from './machine-checks.ts';

const dayMs = 86_400_000;
/** One that is renewed without anybody's doing is so before that. */
const leftDaysMin = 14;

/** None where no certificate is named. */
export function certificateChecks(config: Config, nowMs = Date.now()): readonly Check[] {
  const files = [config.tlsCertFile, config.cluster.certFile].filter((file) => file !== null);
  return files.length === 0 ? [] : [certificateCheck(config, files, nowMs)];
}

function certificateCheck(config: Config, files: readonly string[], nowMs: number): Check {
  try {
    checkCertificates(config);
    const ends = files.map((file) => ({ file, endsMs: endOf(file) }));
    const soon = ends.filter(({ endsMs }) => endsMs - nowMs < leftDaysMin * dayMs);
    const told = (some: typeof ends, word: string) =>
      some.map(({ file, endsMs }) => `${file} ${word} ${new Date(endsMs).toISOString()}`).join('; ');
    const fault = `${told(soon, 'ends at')}: put the renewed files there, and send the service SIGHUP`;
    return checked('certificates', soon.length === 0 ? null : fault, told(ends, 'is good until'));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return checked('certificates', error.message, '');
  }
}

function endOf(file: string): number {
  return Date.parse(new X509Certificate(readFileSync(file)).validTo);
}
