/** The style of the page, with the colours of the sandbox. */
export const style = `
:root {
  color-scheme: light dark;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  --page: light-dark(#f6f7f9, #101317);
  --surface: light-dark(#ffffff, #171b21);
  --sunken: light-dark(#f1f3f6, #0c0f13);
  --line: light-dark(#dfe3e9, #2a3039);
  --ink: light-dark(#171b22, #e6e9ee);
  --ink-2: light-dark(#515b69, #a4adba);
  --accent: light-dark(#2f52cc, #93aaff);
  --accent-soft: light-dark(#e9eefc, #1d2645);
  --ok: light-dark(#14713d, #5ecb8d);
  --ok-soft: light-dark(#e2f4e9, #12301f);
  --warn: light-dark(#855200, #e8b25a);
  --warn-soft: light-dark(#fdf1da, #35270d);
}
*, *::before, *::after { box-sizing: border-box; }
html { scroll-padding-top: 1.5rem; }
body {
  margin: 0; display: grid; grid-template-columns: 15rem minmax(0, 1fr);
  background: var(--page); color: var(--ink);
  font: 0.9375rem / 1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
h1, h2, h3, p, ul, dl, dd, figure, pre { margin: 0; padding: 0; }
ul { list-style: none; }
a { color: var(--accent); text-underline-offset: 0.15em; }
code, pre { font-family: var(--mono); font-size: 0.8125rem; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
main:focus { outline: none; }
.visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 0.5rem; top: 0.5rem; z-index: 1; padding: 0.5rem; background: var(--surface); }

[hidden] { display: none !important; }
.side {
  position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 0.75rem;
  border-right: 1px solid var(--line); background: var(--surface);
}
.brand { display: flex; align-items: center; gap: 0.5rem; padding: 0 0.5rem 1rem; font-weight: 650; }
.brand-mark {
  width: 1rem; height: 1rem; border-radius: 4px;
  background: linear-gradient(var(--surface) 0 0) center / 50% 2px no-repeat, var(--accent);
}
nav a { display: block; padding: 0.25rem 0.5rem; border-radius: 6px; color: var(--ink); text-decoration: none; }
nav li li a { padding-block: 0.125rem; color: var(--ink-2); }
nav li li code { font-size: 0.75rem; }
nav > ul > li { padding-bottom: 0.5rem; }
nav > ul > li > a { font-weight: 600; }
nav a:hover { background: var(--sunken); color: var(--ink); }

main { padding: 2rem 2.5rem 6rem; max-width: 80rem; }
h1 { font-size: 1.75rem; line-height: 1.2; letter-spacing: -0.015em; }
h2 { font-size: 1.375rem; line-height: 1.25; letter-spacing: -0.01em; }
h3 { display: flex; flex-wrap: wrap; align-items: center; gap: 0.375rem 0.625rem; font-size: 1rem; }
h3 code { font-size: 0.9375rem; font-weight: 600; overflow-wrap: anywhere; }
h2 a, h3 a { color: inherit; text-decoration: none; }
h2 a:hover, h3 a:hover { text-decoration: underline; }
h3 a:target, h3:target a { color: var(--accent); }
section { margin-top: 3.5rem; padding-top: 2rem; border-top: 1px solid var(--line); }
.intro { max-width: 42rem; }
.intro p + p, .intro h1 + p, .intro h2 + p { margin-top: 0.625rem; }
.intro code, td code, .entry p code { overflow-wrap: anywhere; }
.quiet { color: var(--ink-2); }
.method {
  padding: 0.0625rem 0.375rem; border-radius: 4px; background: var(--ok-soft); color: var(--ok);
  font: 600 0.75rem / 1.5 var(--mono);
}
.method.post { background: var(--accent-soft); color: var(--accent); }
.endpoint code { font-size: 0.9375rem; }

.entry {
  display: grid; grid-template-columns: minmax(0, 7fr) minmax(0, 5fr); gap: 1rem 2.5rem;
  padding: 2rem 0 0; margin-top: 2rem; border-top: 1px solid var(--line);
}
.intro + .entry { margin-top: 0; padding-top: 1.5rem; border-top: 0; }
.entry > div > * + * { margin-top: 0.625rem; }
.entry > div > table, .entry > div > dl { margin-top: 1.25rem; }
.wide { max-width: 42rem; margin-top: 1.25rem; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; }
caption { padding-bottom: 0.25rem; font-size: 0.875rem; font-weight: 600; text-align: left; }
caption.visually-hidden { padding: 0; }
th, td { padding: 0.5rem 1rem 0.5rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: 400; }
thead th { padding-block: 0.25rem; border: 0; color: var(--ink-2); font-size: 0.8125rem; }
th:nth-child(1) { width: 33%; }
th:nth-child(2) { width: 24%; }
.wide th:nth-child(1) { width: 32%; }
.wide th:nth-child(2) { width: 12%; }
tbody tr:last-child > * { border-bottom: 1px solid var(--line); }
tbody th code { font-weight: 600; overflow-wrap: anywhere; }
.within { color: var(--ink-2); font-weight: 400; }
.note { display: block; color: var(--ink-2); font-size: 0.75rem; }
.note.required { color: var(--accent); }
.type { color: var(--ink-2); font-size: 0.8125rem; line-height: 1.7; overflow-wrap: anywhere; }
td p + p, td p + details { margin-top: 0.25rem; }
td p, td details { font-size: 0.875rem; }
.values code, td .default code { padding: 0 0.25rem; border-radius: 4px; background: var(--sunken); }
.default { color: var(--ink-2); }
summary { cursor: pointer; color: var(--ink-2); }
.mark {
  display: inline-block; padding: 0 0.375rem; border-radius: 4px; background: var(--sunken); color: var(--ink-2);
  font-size: 0.75rem; line-height: 1.6; font-weight: 500;
}
.marks { display: flex; flex-wrap: wrap; gap: 0.25rem; }
.mark.secret { background: var(--warn-soft); color: var(--warn); }
.mark.effect { background: var(--accent-soft); color: var(--accent); }
.answers { display: grid; grid-template-columns: 3rem minmax(0, 1fr); gap: 0.25rem 0.5rem; }
.answers dt { color: var(--ink-2); font-variant-numeric: tabular-nums; }

.examples { align-self: start; position: sticky; top: 1.5rem; display: grid; gap: 0.75rem; }
[data-language=curl] .typescript, [data-language=typescript] .curl { display: none; }
.example { min-width: 0; border: 1px solid var(--line); border-radius: 8px; background: var(--surface); overflow: hidden; }
.example figcaption { display: flex; justify-content: space-between; align-items: center; min-height: 2.25rem; padding: 0 0.375rem 0 0.875rem; border-bottom: 1px solid var(--line); color: var(--ink-2); font-size: 0.8125rem; }
.example button { padding: 0.125rem 0.5rem; border: 0; border-radius: 4px; background: none; color: var(--accent); font: inherit; cursor: pointer; }
.example button:hover { background: var(--sunken); }
.example [data-speak][aria-pressed=true] { color: var(--ink); font-weight: 600; }
input[type=search] {
  width: 100%; margin-bottom: 0.75rem; padding: 0.3125rem 0.5rem; border: 1px solid var(--ink-2); border-radius: 6px;
  background: var(--surface); color: var(--ink); font: inherit;
}
.example pre { max-height: 24rem; overflow: auto; padding: 0.75rem 0.875rem; line-height: 1.5; }
.example code { font-size: 0.75rem; }

@media (max-width: 1100px) {
  .entry { grid-template-columns: minmax(0, 1fr); }
  .examples { position: static; }
}
@media (max-width: 760px) {
  body { display: block; }
  .side { position: static; height: auto; padding: 0.75rem 1rem 0.5rem; border-right: 0; border-bottom: 1px solid var(--line); }
  .brand { padding: 0 0 0.25rem; }
  nav ul ul { display: none; }
  nav > ul { display: flex; flex-wrap: wrap; gap: 0 1rem; }
  nav > ul > li { padding: 0; }
  nav > ul > li > a { padding: 0.25rem 0; font-weight: 500; color: var(--accent); }
  main { padding: 1.5rem 1rem 4rem; }
  section { margin-top: 2.5rem; }
  table, tbody { display: block; }
  thead { display: none; }
  caption { display: block; }
  tr { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 1rem; padding: 0.625rem 0; border-top: 1px solid var(--line); }
  tbody tr:last-child { border-bottom: 1px solid var(--line); }
  tbody tr:last-child > *, th, td { border: 0; padding: 0; }
  th:nth-child(n) { width: auto; }
  .wide th:nth-child(n) { width: auto; }
  td:last-child { grid-column: 1 / -1; }
  td:last-child:not(:empty) { padding-top: 0.125rem; }
  .type { text-align: right; max-width: 12rem; }
}
`
