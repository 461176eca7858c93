// `s3rver`, an S3-compatible server that checks signatures, for the tests of the object store.
//   node --openssl-legacy-provider s3_server.mjs DIRECTORY BUCKET…     (its cursors are made with DES)
// Prints its port. The access key and the secret key are both S3RVER. Ends with its standard input.
import S3rver from "@20minutes/s3rver";

const [directory, ...buckets] = process.argv.slice(2);
const server = new S3rver({
  address: "127.0.0.1",
  port: 0,
  silent: true,
  directory,
  configureBuckets: buckets.map((name) => ({ name })),
});
const { port } = await server.run();
console.log(port);
process.stdin.on("end", () => process.exit(0)).resume();
