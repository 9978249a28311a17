/** The style of the page, with the colours of the sandbox. */
export const style = `
:root {
  color-scheme: light dark; scroll-padding-top: 1.5rem;
  --page: light-dark(#f6f7f9, #101317); --surface: light-dark(#fff, #171b21); --sunken: light-dark(#eceff4, #20262f);
  --line: light-dark(#dfe3e9, #2a3039); --ink: light-dark(#171b22, #e6e9ee); --quiet: light-dark(#515b69, #a4adba);
  --accent: light-dark(#2f52cc, #93aaff); --accent-soft: light-dark(#e9eefc, #1d2645);
  --warn: light-dark(#855200, #e8b25a); --warn-soft: light-dark(#fdf1da, #35270d);
}
* { box-sizing: border-box; margin: 0; padding: 0; }
body {
  display: grid; grid-template-columns: 15.5rem minmax(0, 1fr); background: var(--page); color: var(--ink);
  font: 0.9375rem / 1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
[hidden], section:not(:has(> :not(h2, [hidden]))) { display: none !important; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
a { color: var(--accent); text-underline-offset: 0.15em; }
ul { list-style: none; }
p { max-width: 44rem; margin-top: 0.5rem; }
code { font: 0.8125rem ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
.quiet, dt { color: var(--quiet); font-size: 0.875rem; }
.skip:not(:focus) { position: absolute; left: -999rem; }

#side { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1rem 0.75rem; border-right: 1px solid var(--line); background: var(--surface); }
.brand { padding: 0 0.5rem 0.75rem; font-weight: 650; }
input { width: 100%; padding: 0.3125rem 0.5rem; border: 1px solid var(--quiet); border-radius: 6px; background: var(--page); color: var(--ink); font: inherit; }
#said { min-height: 0.75rem; padding: 0 0.5rem; font-size: 0.75rem; }
nav a { display: block; padding: 0.125rem 0.5rem; border-radius: 6px; color: var(--quiet); font-size: 0.8125rem; text-decoration: none; }
nav > ul > li { padding-bottom: 0.625rem; }
nav > ul > li > a { color: var(--ink); font-size: 0.9375rem; font-weight: 600; }
nav a:hover, button:hover { background: var(--sunken); }
nav a[aria-current] { background: var(--accent-soft); color: var(--accent); }

main { padding: 2rem 2.5rem 50vh; max-width: 84rem; outline: none; }
h1, h2 { font-size: 1.75rem; line-height: 1.2; letter-spacing: -0.015em; }
h2 { font-size: 1.375rem; }
h3 { font-size: 1rem; line-height: 1.75rem; }
h3 code { font-size: 0.9375rem; font-weight: 600; }
:is(h2, h3) a { color: inherit; text-decoration: none; }
:is(h2, h3):target a { color: var(--accent); }
section { margin-top: 3rem; padding-top: 2rem; border-top: 1px solid var(--line); }
article { display: grid; grid-template-columns: minmax(0, 7fr) minmax(0, 5fr); gap: 1rem 2.5rem; padding-top: 1.75rem; }
article + article { margin-top: 1.75rem; border-top: 1px solid var(--line); }
summary { margin-top: 1.25rem; padding-bottom: 0.25rem; font-size: 0.875rem; font-weight: 600; cursor: pointer; }
dl { max-width: 44rem; border-bottom: 1px solid var(--line); }
dl > div { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 7fr); gap: 0 1.5rem; padding: 0.5rem 0; border-top: 1px solid var(--line); }
dt > code { margin-right: 0.375rem; color: var(--ink); font-weight: 600; }
dd { font-size: 0.875rem; }
.mark { display: inline-block; padding: 0 0.375rem; border-radius: 4px; background: var(--sunken); color: var(--quiet); font: 500 0.75rem / 1.6 system-ui, sans-serif; }
.accent { background: var(--accent-soft); color: var(--accent); }
.warn { background: var(--warn-soft); color: var(--warn); }

.examples { align-self: start; position: sticky; top: 1.5rem; display: grid; gap: 0.75rem; }
figure { min-width: 0; border: 1px solid var(--line); border-radius: 8px; background: var(--surface); overflow: hidden; }
figcaption { display: flex; justify-content: space-between; align-items: center; min-height: 2.25rem; padding: 0 0.375rem 0 0.875rem; border-bottom: 1px solid var(--line); color: var(--quiet); font-size: 0.8125rem; }
button { padding: 0.125rem 0.5rem; border: 0; border-radius: 4px; background: none; color: var(--accent); font: inherit; cursor: pointer; }
pre { max-height: 45vh; overflow: auto; padding: 0.75rem 0.875rem; line-height: 1.2; }
pre code { font-size: 0.75rem; line-height: 1.5; overflow-wrap: normal; }

@media (max-width: 1100px) {
  article { grid-template-columns: minmax(0, 44rem); }
  .examples { position: static; }
}
@media (max-width: 760px) {
  body { display: block; }
  #side { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); }
  nav ul ul { display: none; }
  nav > ul { display: flex; flex-wrap: wrap; gap: 0 0.5rem; }
  nav > ul > li { padding: 0; }
  main { padding: 1.5rem 1.25rem 4rem; }
  dl > div { grid-template-columns: minmax(0, 1fr); }
}
`
