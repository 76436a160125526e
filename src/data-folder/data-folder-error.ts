// What goes wrong with a data folder.

/** The data folder can't be used. The message is one line. */
export class DataFolderError extends Error {
  override name = 'DataFolderError';
}
