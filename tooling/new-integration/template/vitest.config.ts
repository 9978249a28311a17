export { default } from '@org/tooling/vitest'
