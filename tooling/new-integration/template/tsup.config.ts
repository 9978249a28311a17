export { default } from '@org/tooling/tsup'
