/** The style and the script of the page. */

/** The examples have this origin, until the script gives them that of the page. */
export const ORIGIN = 'http://localhost:3009'

/** Gives the examples the origin of the page. */
export const script = `
for (const code of document.querySelectorAll('figure code'))
  code.textContent = code.textContent.replaceAll('${ORIGIN}', location.origin)
`

/** The colours are those of the sandbox. */
export const style = `
:root {
  color-scheme: light dark; scroll-padding-top: 1.5rem;
  --page: light-dark(#f6f7f9, #101317); --surface: light-dark(#fff, #171b21); --sunken: light-dark(#eceff4, #20262f);
  --line: light-dark(#dfe3e9, #2a3039); --ink: light-dark(#171b22, #e6e9ee); --quiet: light-dark(#515b69, #a4adba);
  --accent: light-dark(#2f52cc, #93aaff);
}
* { box-sizing: border-box; margin: 0; padding: 0; }
body {
  display: grid; grid-template-columns: 15.5rem minmax(0, 1fr); background: var(--page); color: var(--ink);
  font: 0.9375rem / 1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
a { color: var(--accent); }
ul { list-style: none; }
p { max-width: 44rem; margin-top: 0.5rem; }
code { font: 0.8125rem ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
.skip:not(:focus) { position: absolute; left: -999rem; }

nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1rem; border-right: 1px solid var(--line); background: var(--surface); }
nav a { color: var(--ink); font-weight: 600; text-decoration: none; }
nav ul ul a { color: var(--quiet); font-size: 0.8125rem; font-weight: normal; }
nav > ul > li { padding-bottom: 0.625rem; }

main { padding: 2rem 2.5rem 50vh; max-width: 84rem; outline: none; }
h1, h2 { line-height: 1.2; }
h3 code { font-size: 1rem; }
:is(h2, h3) a { color: inherit; text-decoration: none; }
:is(h2, h3):target a { color: var(--accent); }
section { margin-top: 3rem; padding-top: 2rem; border-top: 1px solid var(--line); }
article { display: grid; grid-template-columns: minmax(0, 7fr) minmax(0, 5fr); gap: 1rem 2.5rem; padding-top: 2.5rem; }
summary { margin-top: 1.25rem; padding-bottom: 0.25rem; font-size: 0.875rem; font-weight: 600; cursor: pointer; }
dl { max-width: 44rem; font-size: 0.875rem; }
dl > div { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 7fr); gap: 0 1.5rem; padding: 0.5rem 0; border-top: 1px solid var(--line); }
dt { color: var(--quiet); }
dt > code { color: var(--ink); font-weight: 600; }
.mark { padding: 0 0.375rem; border-radius: 4px; background: var(--sunken); color: var(--quiet); font-size: 0.75rem; font-weight: normal; }

figure { align-self: start; position: sticky; top: 1.5rem; border: 1px solid var(--line); border-radius: 8px; background: var(--surface); }
pre { max-height: 80vh; overflow: auto; padding: 0.75rem; line-height: 1.4; }
pre code { font-size: 0.75rem; overflow-wrap: normal; }

@media (max-width: 1000px) { article { grid-template-columns: minmax(0, 44rem); } }
@media (max-width: 760px) {
  body { display: block; }
  nav { position: static; height: auto; }
  nav ul ul { display: none; }
  main { padding: 1.5rem 1.25rem; }
  dl > div { grid-template-columns: minmax(0, 1fr); }
}
`
