// Every page in every language in real Chromium, as wide as a desktop and as a phone, light and dark: axe finds no fault,
// nothing is wider than the screen, no target is too small, and the browser logs no error.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { languages } from '../../../src/contract/vocabulary.ts';
import { axe, lookAt } from './axe.ts';
import { browserTest, launchBrowser } from './browser.ts';
import { pages } from './page-scenes.ts';
import { openSite } from './served-pages.ts';

const [browser, site] = await Promise.all([launchBrowser(), openSite()]);
after(() => Promise.all([browser?.close(), site.close()]));

const desk = { width: 1280, height: 800 };
const phone = { width: 320, height: 640 };
/** No rule of the style sheets is about both, so each language is seen in both sizes and both colors, in turn in all four ways. */
const looks = [
  {
    'phone, dark': { viewport: phone, colorScheme: 'dark' },
    'desk, light': { viewport: desk, colorScheme: 'light' },
  },
  {
    'phone, light': { viewport: phone, colorScheme: 'light' },
    'desk, dark': { viewport: desk, colorScheme: 'dark' },
  },
] as const;

/** What a finger can't hit well: less than 48 pixels high. A radio button counts with its label. */
const smallTargets = `[...document.querySelectorAll('a, button, summary, input:not([type=hidden], [type=radio]), .method > label')]
  .filter((target) => target.checkVisibility() && target.getBoundingClientRect().height < 48)
  .map((target) => target.outerHTML + target.getBoundingClientRect().height)`;

for (const [name, { open, status = 200, act }] of Object.entries(pages)) {
  browserTest(`the page "${name}" is accessible in every language and size`, async () => {
    const target = await open(site.service);
    const context = await browser!.newContext();
    await context.addInitScript(axe);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' && !/status of 4\d\d/.test(message.text()))
        complaints.push(message.text());
    });
    for (const [i, language] of languages.entries()) {
      const response = await page.goto(`${site.url}${target}?lang=${language}`);
      assert.equal(response!.status(), status);
      await act?.(page);
      for (const [size, { viewport, colorScheme }] of Object.entries(looks[i % looks.length]!)) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        const { faults, overflow } = await lookAt(page);
        assert.deepEqual(faults, [], `${language} ${size}`);
        assert.ok(overflow <= 0, `${language} ${size}: ${overflow} px too wide`);
        assert.deepEqual(await page.evaluate(smallTargets), [], `${language} ${size}`);
      }
    }
    assert.deepEqual(complaints, []);
    await context.close();
  });
}
