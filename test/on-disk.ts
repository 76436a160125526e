// Imported by tests that are about a disk, where a sync takes time and files are what a file system for disks makes of them:
// `npm test` puts the temporary folders of all others into memory.

const { TMPDIR_ON_DISK: folder } = process.env;
if (folder !== undefined) process.env.TMPDIR = folder;
