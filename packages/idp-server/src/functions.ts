import { createFunctions } from '@org/idp/instance'
import { connect } from './connection.ts'

/** What FUNCTION_CALL may run: the functions of any instance, against the provisioned one. */
export const functions = createFunctions(connect)
