/**
 * All scripts of the page. The page is live only if all of them load: otherwise its banner stays.
 *
 * @module
 */
import './forms.js'
import './list.js'
import { connect } from './live.js'

connect()
