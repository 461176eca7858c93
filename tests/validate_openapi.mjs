// node validate_openapi.mjs openapi.json: the document against the OpenAPI 3.1 schema, and every schema in it against
// JSON Schema 2020-12. Prints what is wrong; exit code 1 when something is.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Validator } from "@seriousme/openapi-schema-validator";

const require = createRequire(import.meta.resolve("@seriousme/openapi-schema-validator"));
const Ajv2020 = require("ajv/dist/2020.js").default;
const addFormats = require("ajv-formats").default;

const text = readFileSync(process.argv[2], "utf8");
const problems = [];

const outcome = await new Validator().validate(JSON.parse(text));
if (!outcome.valid) problems.push(JSON.stringify(outcome.errors, null, 1));

const document = JSON.parse(text);
if (document.openapi !== "3.1.0") problems.push(`openapi is ${document.openapi}, not 3.1.0`);
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
addFormats(ajv);
ajv.addKeyword("components");
ajv.addSchema({ $id: "document", components: document.components }, undefined, false, false);
const whole = (reference) => JSON.parse(JSON.stringify(reference).replaceAll('"#/', '"document#/'));
let schemas = 0;
const visit = (value, path) => {
	if (Array.isArray(value)) value.forEach((each, index) => visit(each, `${path}/${index}`));
	else if (value && typeof value === "object")
		for (const [name, each] of Object.entries(value)) {
			const inSchemas = path.endsWith("/components/schemas");
			if (name === "schema" || inSchemas) {
				try {
					++schemas;
					ajv.compile(whole(each));
				} catch (error) {
					problems.push(`${path}/${name}: ${error.message}`);
				}
			}
			if (!inSchemas) visit(each, `${path}/${name}`);
		}
};
visit(document, "#");
if (schemas < 20) problems.push(`only ${schemas} schemas were found`);
for (const problem of problems) console.log(problem);
process.exit(problems.length ? 1 : 0);
