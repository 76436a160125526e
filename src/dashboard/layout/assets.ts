// The files that pages of the dashboard load. A page works without each of the scripts.

import { type Asset, scriptAsset } from '../../html/assets.ts';
import { siteStyle } from '../../html/site-style.ts';

/** The script of every page: buttons that copy, and buttons that ask once more. */
export const buttonsScript = scriptAsset('buttons.js');

/** The script of lists that are kept up to date. */
export const tailScript = scriptAsset('tail.js');

export const dashboardAssets: readonly Asset[] = [siteStyle, buttonsScript, tailScript];
