/** The addresses that `isAddress` accepts, as a pattern for forms. */

const CONTROL = String.raw`\u0000-\u001f\u007f-\u009f\u2028\u2029`
const FORM_LABEL = String.raw`[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?`
const FORM_BARE = String.raw`[A-Za-z0-9_.!#$%&'*+\/=?^\u0060\{\|\}~\-]{1,64}@${FORM_LABEL}(?:\.${FORM_LABEL})*`
const FORM_NAME = String.raw`(?:"(?:[^"\\${CONTROL}]|\\[^${CONTROL}])*" *|[^<>${CONTROL}]{0,998})`
/** In the syntax that every engine reads. */
export const ADDRESS_PATTERN = `^ *(?:${FORM_BARE}|${FORM_NAME}< *${FORM_BARE} *>) *$`
