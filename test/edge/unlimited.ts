// Connections without a limit, for servers that a test has to itself.

export const unlimited = { opened: () => true, closed: () => {} };
