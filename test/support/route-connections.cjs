const { Socket } = require('node:net');

/**
 * Leads every connection of a process to the port STAND_IN_PORT of this machine, so that a function can ask
 * AWS by its real host names, and check its certificate.
 */
const { connect } = Socket.prototype;
Socket.prototype.connect = function connectToStandIn(_options, onConnect) {
  const port = Number(process.env.STAND_IN_PORT);
  return connect.call(this, { host: '127.0.0.1', port }, onConnect);
};
