// Finds the titles of the tests in a file, so that a test can check that the tests named in documents exist.

/** The titles of the tests in a file, as patterns: what a title leaves open is a group. */
function titlesOf(text: string): RegExp[] {
  return [...text.matchAll(/\b(?:test|browserTest)\(\s*(?:'((?:\\.|[^'\\])*)'|`([^`]*)`)/g)].map(
    ([, plain, template]) => {
      const parts = plain === undefined ? template!.split(/\$\{[^}]*\}/) : [plain.replaceAll('\\', '')];
      return new RegExp(`^${parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('(.*)')}$`);
    },
  );
}

/** Whether the file has a test of this title. What its pattern leaves open must stand in the file, in a table. */
export function hasTest(text: string, title: string): boolean {
  return titlesOf(text).some((pattern) => {
    const match = pattern.exec(title);
    return match?.slice(1).every((part) => text.includes(part)) ?? false;
  });
}
