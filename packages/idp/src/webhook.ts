/**
 * The identity provider as a webhook integration.
 *
 * @module
 */
export { createPlaceholderHandler, placeholder } from './placeholder.ts'
