// The scripts of the customers' pages.

import { scriptAsset } from '../assets.ts';

/** Shows the buttons that need a script, and makes them work. */
export const buttonsScript = scriptAsset('buttons.js');

export const pageAssets = [buttonsScript];
