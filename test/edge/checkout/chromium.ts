// Finds the Chromium for the page tests: the one that CHROMIUM_PATH names, an installed one, or the one that comes with the
// development dependencies, which is unpacked once with the libraries that it needs.

import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Chromium {
  readonly executablePath: string;
  /** To be added to the environment that it runs in. */
  readonly env: Readonly<Record<string, string>>;
}

const installed = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The value of CHROMIUM_PATH that ignores any installed Chromium. */
const bundledOnly = 'bundled';

/** Why the page tests can't run on this machine, or false when they can. */
export function chromiumMissing(
  named = process.env.CHROMIUM_PATH,
  platform = `${process.platform}-${process.arch}`,
): string | false {
  if (named && named !== bundledOnly) return false;
  if (platform === 'linux-x64') return false;
  if (named !== bundledOnly && installed.some(existsSync)) return false;
  return `left out: the packages bring no Chromium for ${platform} and none is installed; CHROMIUM_PATH can name one`;
}

/** Throws when CHROMIUM_PATH names a file that does not exist. */
export async function findChromium(named = process.env.CHROMIUM_PATH): Promise<Chromium> {
  if (named === bundledOnly) return bundled();
  if (named) {
    if (!existsSync(named)) throw new Error(`CHROMIUM_PATH names ${named}, which does not exist: correct it`);
    return { executablePath: named, env: {} };
  }
  const found = installed.find(existsSync);
  return found === undefined ? bundled() : { executablePath: found, env: {} };
}

/**
 * Unpacks the Chromium of the development dependencies beside them, unless that was done before. Test files run at the
 * same time: each unpacks into a folder of its own, and the first to finish gives it the name that all use.
 */
async function bundled(): Promise<Chromium> {
  const packageFolder = dirname(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))));
  const folder = join(packageFolder, 'unpacked');
  if (!existsSync(folder)) {
    const own = mkdtempSync(`${folder}-`);
    await unpack(join(packageFolder, 'bin'), own);
    // The package's own names folders of the machine that it was made for; without any font Chromium ends itself.
    writeFileSync(join(own, 'fonts', 'fonts.conf'), fontsConfig(folder));
    try {
      renameSync(own, folder);
    } catch (error) {
      rmSync(own, { recursive: true });
      if (!existsSync(folder)) throw error;
    }
  }
  return {
    executablePath: join(folder, 'chromium'),
    env: { LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'), FONTCONFIG_PATH: join(folder, 'fonts') },
  };
}

/** The package unpacks into the folder for temporary files, whichever that is. */
async function unpack(from: string, to: string): Promise<void> {
  const { inflate } = await import('@sparticuz/chromium');
  const before = process.env.TMPDIR;
  process.env.TMPDIR = to;
  const files = ['chromium.br', 'fonts.tar.br', 'swiftshader.tar.br', 'al2023.tar.br'];
  await Promise.all(files.map((file) => inflate(join(from, file)))).finally(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
}

function fontsConfig(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(folder, 'fonts')}</dir>
  <cachedir>${join(folder, 'fonts-cache')}</cachedir>
</fontconfig>
`;
}
