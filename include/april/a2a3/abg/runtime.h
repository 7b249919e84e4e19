// Sources include it and use nothing of it.
#pragma once
