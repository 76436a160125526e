// The scripts of the customers' pages.

import { scriptAsset } from '../../html/assets.ts';

/** Shows the buttons that need a script, and makes them work. */
export const buttonsScript = scriptAsset('buttons.js');
/** Helps to type a card. */
export const cardFormScript = scriptAsset('card-form.js');
/** Loads a page again when its payment has gone on. */
export const watchScript = scriptAsset('watch.js');

export const pageAssets = [buttonsScript, cardFormScript, watchScript];
