import { createFunctions } from '@org/idp/instance'
import { connect } from './connection.ts'

/** The functions of FUNCTION_CALL: those of every instance, against the provisioned one. */
export const functions = createFunctions(connect)
