// The colours and measures that all pages in the browser share, as custom properties: a style sheet
// that begins with them uses no colours of its own. Every pair that is used as text and background
// has a contrast of 4.5 or more, and borders of fields have 3 or more, in the light scheme and in
// the dark one.

export const tokensCss = `
:root{color-scheme:light dark;
--page:#f4f6f9;--surface:#fff;--raised:#f8fafc;--text:#16202e;--muted:#4f5b6d;--line:#dfe4ea;--field:#7b8797;
--accent:#1b5cc4;--accent-strong:#154a9f;--on-accent:#fff;--accent-soft:#eaf1fd;--focus:#1b5cc4;
--good:#0f6b3f;--good-soft:#e6f5ec;--bad:#b3261e;--bad-soft:#fdf0ef;--warn:#6b4700;--warn-soft:#fdf1cd;
--shadow:0 1px 2px #10182814,0 8px 24px #1018280f;--radius:.625rem;
--font:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Noto Sans Arabic",sans-serif;
--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"Noto Sans Mono",monospace}
@media (prefers-color-scheme:dark){:root{
--page:#0e131b;--surface:#171e29;--raised:#1d2633;--text:#e9edf3;--muted:#a7b2c2;--line:#2b3645;--field:#74829a;
--accent:#8db8ff;--accent-strong:#b3d0ff;--on-accent:#0b1a33;--accent-soft:#1b2b46;--focus:#8db8ff;
--good:#6fd49b;--good-soft:#12301f;--bad:#ff9d94;--bad-soft:#3a1b1a;--warn:#f6d375;--warn-soft:#3a2e0d;
--shadow:none}}
`;
