// How LMDB lays out a file, for whoever reads pages without the library.

/** A header page has it. */
export const magic = 0xbeefc0de;
export const dataVersion = 2;
/** Of a page. */
export const headerBytes = 24;
/** Of a row in a page. */
export const nodeHeaderBytes = 8;
export const branchFlag = 0x01;
export const leafFlag = 0x02;
export const overflowFlag = 0x04;
export const metaFlag = 0x08;
/** Of a row whose value lies in pages of its own. */
export const bigDataFlag = 0x01;
/** Of a row that is a table. */
export const subDatabaseFlag = 0x02;
/** The root of an empty tree. */
export const noPage = 0xffff_ffff_ffff_ffffn;
