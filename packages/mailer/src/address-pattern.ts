/** The addresses that `isAddress` accepts, as a pattern for forms. */

const CONTROL = String.raw`\u0000-\u001f\u007f-\u009f\u2028\u2029`
/** Characters that no domain has: ASCII but letters, digits, hyphens and dots, and white space. */
const STRANGE = String.raw`\u0000-,\/:-@\[-\u0060\{-\u00a0\u2000-\u206f\u3000\ufeff`
const FORM_LABEL = String.raw`[^${STRANGE}.\-](?:[^${STRANGE}.]{0,61}[^${STRANGE}.\-])?`
const FORM_BARE = String.raw`[A-Za-z0-9_.!#$%&'*+\/=?^\u0060\{\|\}~\-]{1,64}@${FORM_LABEL}(?:\.${FORM_LABEL})*`
const FORM_NAME = String.raw`(?:"(?:[^"\\${CONTROL}]|\\[^${CONTROL}])*" *|[^<>${CONTROL}]{0,998})`
/** In the syntax that every engine reads. Of domains beyond ASCII, it accepts more. */
export const ADDRESS_PATTERN = `^ *(?:${FORM_BARE}|${FORM_NAME}< *${FORM_BARE} *>) *$`
