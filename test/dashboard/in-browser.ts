// The dashboard of a real service with a member who looks at it in real Chromium.

import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../edge/checkout/browser.ts';
import { newMember, signedIn, startDashboard } from './fixture.ts';

/** Where there is no Chromium, no `browserTest` runs, and only the dashboard and the member are there. */
export async function openDashboard(role: string, env: Readonly<Record<string, string>> = {}) {
  const [dashboard, launched] = await Promise.all([startDashboard(env), launchBrowser()]);
  const member = await newMember(dashboard, role);
  const browser = launched as Browser;
  const nothing = { page: null as unknown as Page, complaints: [] as string[] };
  const { page, complaints } = launched === null ? nothing : await signedIn(browser, dashboard, member);
  const close = () => Promise.all([launched?.close(), dashboard.stop()]);
  return { dashboard, browser, member, page, complaints, close };
}

/** What a file's hook opens before its tests. */
export type InBrowser = Awaited<ReturnType<typeof openDashboard>>;
