#!/bin/sh
# SPDX-License-Identifier: MIT
# Each script given becomes a string constant named after its file: churn.py is bench_data_churn_py.
for file; do
	name=$(basename "$file" | tr . _)
	printf 'static const char bench_data_%s[] =\n' "$name"
	sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/"&\\n"/' "$file"
	printf ';\n'
done
