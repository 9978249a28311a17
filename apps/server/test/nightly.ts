/** Whether the cases run, too, whose faults quicker cases notice: `npm run nightly`. */
export const isNightly = process.env.NIGHTLY !== undefined
